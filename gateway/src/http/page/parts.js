// Parts of the page: figures in words, tables whose rows stay, and ages.

import { lang, t } from './words.js';

const plain = new Intl.NumberFormat(lang === 'zh' ? 'zh-CN' : 'en', { maximumFractionDigits: 2 });
const rough = new Intl.NumberFormat(lang === 'zh' ? 'zh-CN' : 'en', { maximumSignificantDigits: 3 });

export const number = (value) => (value === null || value === undefined || value === '' ? '–' : plain.format(Number(value)));
export const rate = (value) => (Number.isFinite(value) ? rough.format(value) : '–');
export const percent = (value) => (Number.isFinite(value) ? `${rough.format(value * 100)} %` : '–');
export const micros = (value) => (value >= 1000 ? `${rough.format(value / 1000)} ms` : `${rough.format(value)} µs`);

export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = 0;
  for (; value >= 1024 && size < units.length - 1; size += 1) value /= 1024;
  return `${rough.format(value)} ${units[size]}`;
}

export function duration(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms / 100) / 10).toFixed(1)} s`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

// A figure was true `age` ms ago, and is stale when it is older than `limit`.
export function stamp(element, age, limit = 2000) {
  if (age === null || age === undefined) {
    delete element.dataset.at;
    element.classList.remove('stale');
    return;
  }
  element.dataset.at = performance.now() - age;
  element.dataset.limit = limit;
  grow(element);
}

function grow(element) {
  const age = performance.now() - Number(element.dataset.at);
  element.classList.toggle('stale', age > Number(element.dataset.limit));
  const shown = element.querySelector('.age');
  const text = duration(age);
  if (shown && shown.textContent !== text) shown.textContent = text;
}

export function ages() {
  document.querySelectorAll('[data-at]').forEach(grow);
}

export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function fill(cell, value) {
  if (value instanceof Node) return void cell.replaceChildren(value);
  const text = value === null || value === undefined ? '–' : String(value);
  if (cell.textContent !== text) cell.textContent = text;
}

// Columns: [word, is it a number]. Rows: {cells, age, limit, alarm}; a row with an age has a column for it.
export function table(id, columns, rows, more = 0) {
  const element = document.getElementById(id);
  if (!element.tHead) {
    const heads = columns.map(([word, isNumber]) => make('th', { textContent: t(word), scope: 'col', className: isNumber ? 'n' : '' }));
    heads.push(make('th', { textContent: t('age'), scope: 'col', className: 'n' }));
    element.createTHead().append(make('tr', {}, ...heads));
    element.createTBody();
  }
  const body = element.tBodies[0];
  const wanted = rows.length ? rows : [{ cells: [t('none')], none: true }];
  if (more) wanted.push({ cells: [`+ ${more} ${t('more')}`], none: true });
  while (body.rows.length > wanted.length) body.deleteRow(-1);
  wanted.forEach((row, index) => {
    const line = body.rows[index] ?? body.insertRow();
    while (line.cells.length < columns.length + 1) line.insertCell();
    columns.forEach(([, isNumber], place) => {
      line.cells[place].className = row.none ? 'none' : isNumber ? 'n' : '';
      fill(line.cells[place], row.none && place ? '' : row.cells[place]);
    });
    const last = line.cells[columns.length];
    last.className = 'n age';
    if (row.none) last.textContent = '';
    line.classList.toggle('alarm', !!row.alarm);
    stamp(line, row.none ? null : row.age, row.limit);
  });
}

// How much of a limit is used.
export function gauge(part, label) {
  return make('meter', { min: 0, max: 1, low: 0.6, high: 0.9, optimum: 0, value: Math.min(1, part), title: label, ariaLabel: label });
}

export function tiles(rows) {
  const list = document.getElementById('tiles');
  rows.forEach(([word, value, age, alarm, limit], index) => {
    let tile = list.children[index];
    if (!tile) {
      const text = make('span', { className: 'value' });
      tile = make('div', {}, make('dt', { textContent: t(word) }), make('dd', {}, text, make('span', { className: 'age' })));
      list.append(tile);
    }
    fill(tile.querySelector('.value'), value);
    tile.classList.toggle('alarm', !!alarm);
    stamp(tile, age, limit);
  });
}

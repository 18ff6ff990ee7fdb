// An order's way, drawn: a bar for each stage, from the quote to the last report.

import { make, micros } from './parts.js';
import { t } from './words.js';

// What lies between two hops, as docs/t2o.md names it; the first of several hops of a kind counts.
const STAGES = [
  ['due', 'published', 'late'],
  ['published', 'received', 'md'],
  ['received', 'ordered', 'strategy'],
  ['ordered', 'taken', 'order'],
  ['taken', 'routed', 'td'],
  ['routed', 'executed', 'matching'],
  ['executed', 'reported', 'report'],
];

export function traceStages(hops) {
  // Not by the times since the epoch: a number here is too coarse for them.
  const known = hops.filter((hop) => hop.since_start_ns !== null);
  const first = (kind) => known.find((hop) => hop.hop === kind);
  const stages = [];
  for (const [from, to, name] of STAGES) {
    // When td had an order in hand is only known of those that answer a quote.
    const [begin, end] = [first(from), first(to) ?? (to === 'taken' ? first('routed') : undefined)];
    if (begin && end && end.since_start_ns >= begin.since_start_ns) {
      stages.push({ name, node: end.node, from: begin.since_start_ns, to: end.since_start_ns });
    }
  }
  const reports = known.filter((hop) => hop.hop === 'reported');
  // What came later: it rested, or was traded in parts.
  if (reports.length > 1 && reports.at(-1).since_start_ns > reports[0].since_start_ns) {
    stages.push({ name: 'rest', node: reports.at(-1).node, from: reports[0].since_start_ns, to: reports.at(-1).since_start_ns });
  }
  return stages;
}

export function drawTrace(element, stages) {
  if (!element.tHead) {
    const heads = [['stage'], ['node'], ['time', 'n'], ['way']];
    const cells = heads.map(([word, className = '']) => make('th', { textContent: t(word), scope: 'col', className }));
    element.createTHead().append(make('tr', {}, ...cells));
    element.createTBody();
  }
  const begin = Math.min(...stages.map((stage) => stage.from));
  const whole = Math.max(1, Math.max(...stages.map((stage) => stage.to)) - begin);
  const rows = stages.map((stage) => {
    const span = (stage.to - stage.from) / 1000;
    const bar = make('span', { className: 'bar' });
    bar.style.setProperty('--from', `${((stage.from - begin) / whole) * 100}%`);
    bar.style.setProperty('--part', `${((stage.to - stage.from) / whole) * 100}%`);
    const cells = [[t(`stage_${stage.name}`)], [stage.node ?? '–'], [micros(span), 'n']];
    const line = make('tr', {}, ...cells.map(([text, className = '']) => make('td', { textContent: text, className })));
    line.append(make('td', { className: 'way', ariaHidden: 'true' }, bar));
    return line;
  });
  if (stages.length) {
    const total = [[t('total')], [''], [micros(whole / 1000), 'n'], ['']];
    rows.push(make('tr', { className: 'total' }, ...total.map(([text, className = '']) => make('td', { textContent: text, className }))));
  }
  element.tBodies[0].replaceChildren(...rows);
}

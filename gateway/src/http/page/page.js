// The page: one look says whether anything is dead, stale or losing.

import uPlot from './uplot.js';
import { ask, Push, Refused, token } from './api.js';
import { ages, bytes, duration, gauge, make, micros, number, percent, rate, stamp, table, tiles } from './parts.js';
import { drawTrace, traceStages } from './trace.js';
import { lang, otherLanguage, t, translate } from './words.js';

const LOOK = 500;
// Without an answer for so long, what stands here is old.
const SILENT = 1500;
const MINUTE = 60_000;
const POINTS = 1200;

const at = (id) => document.getElementById(id);
let answered = null;
let last = null;
let problem = null;
let symbols = [];
let quote = null;
let push = null;
let skew = 0;
const totals = [];
const course = [[], [], [], []];
const charts = [];

function verdict() {
  const line = at('verdict');
  const age = answered === null ? null : performance.now() - answered;
  let [look, text] = ['waiting', t('waiting')];
  if (!token.get()) text = t('signIn');
  else if (problem && (age === null || age > SILENT)) [look, text] = ['bad', `${t('silent')} (${problem})`];
  else if (age !== null && age > SILENT) [look, text] = ['bad', t('silent')];
  else if (last?.is_well) [look, text] = ['well', `${t('well')} · ${last.nodes.length} ${t('nodes').toLowerCase()}`];
  else if (last) {
    const said = last.troubles.map((one) => `${t(one.kind)}: ${one.who} (${one.detail})`);
    [look, text] = ['bad', said.slice(0, 6).join(' · ') + (said.length > 6 ? ` · + ${said.length - 6}` : '')];
  }
  // Read aloud only when it changes.
  if (line.dataset.said !== text) {
    line.dataset.said = text;
    line.className = look;
    line.replaceChildren(text, make('span', { ariaHidden: 'true' }));
    document.title = `${look === 'bad' ? '● ' : ''}${last?.instance ?? 'colo'}`;
  }
  if (age !== null && look !== 'waiting') line.lastChild.textContent = ` · ${t('looked')} ${duration(age)} ${t('ago')}`;
}

// Sums of money by currency.
function sums(holders) {
  const by = new Map();
  for (const one of holders) by.set(one.currency, (by.get(one.currency) ?? 0) + Number(one.result));
  return by;
}

function show(data) {
  at('instance').textContent = data.instance;
  at('phase').textContent = data.phase;
  const now = performance.now();
  totals.push([now, data.totals]);
  while (totals.length > 2 && now - totals[0][0] > MINUTE) totals.shift();
  const per = (name, back) => {
    const from = totals[Math.max(0, totals.length - 1 - back)];
    return from[0] === now ? NaN : ((data.totals[name] - from[1][name]) * 1000) / (now - from[0]);
  };
  const held = data.holdings;
  const heldAge = data.holdings_age_ms ?? null;
  const asked = data.totals.orders - totals[0][1].orders;
  const refused = (data.totals.rejected - totals[0][1].rejected) / asked;
  const t2o = data.stages.t2o;
  const results = sums(held?.holders ?? []);
  const atWork = (held?.working ?? []).reduce((sum, one) => sum + one.buys + one.sells, 0);
  const lag = data.readers[0];
  const behind = data.durable.reduce((sum, one) => sum + one.behind_bytes, 0);
  tiles([
    ['ordersRate', rate(per('orders', 4)), 0],
    ['refusals', asked > 0 ? percent(refused) : '–', 0, refused > 0.05],
    ['fillsRate', rate(per('fills', 4)), 0],
    ['working', held ? number(atWork) : '–', heldAge, false, 3000],
    ['resultToday', [...results].map(([currency, sum]) => `${number(sum)} ${currency}`).join(', ') || '–', heldAge, false, 3000],
    ['t2o', t2o?.n ? `${micros(t2o.p50_us)} / ${micros(t2o.p99_us)}` : '–', 0],
    ['worstLag', lag ? bytes(lag.lag_bytes) : '–', 0, lag && lag.lag_bytes > lag.capacity_bytes / 2],
    ['notDurable', data.durable.length ? bytes(behind) : '–', 0],
  ]);
  kills(held, heldAge);
  const limits = (one) => {
    const parts = one.limits.filter((limit) => limit.part !== null);
    const shown = parts.map((limit) => {
      const label = `${limit.limit}${limit.instrument ? ` ${limit.instrument}` : ''}: ${number(limit.used)} / ${number(limit.most)}`;
      return make('span', {}, gauge(limit.part, label), ` ${limit.limit} ${percent(limit.part)} `);
    });
    return shown.length ? make('span', {}, ...shown) : '–';
  };
  table('accounts', [['account', 1], ['owner'], ['currency'], ['equity', 1], ['available', 1], ['result', 1], ['openOrders', 1], ['limits']],
    (held?.holders ?? []).map((one) => ({
      cells: [one.account || '–', one.owner, one.currency || '–', number(one.equity), number(one.available), number(one.result), number(one.open_orders), limits(one)],
      age: heldAge, limit: 3000, alarm: one.limits.some((limit) => limit.part >= 0.9),
    })));
  const named = (id) => symbols.find((one) => one.instrument === id)?.symbol ?? id;
  table('positions', [['account', 1], ['owner'], ['instrument'], ['long', 1], ['short', 1], ['realised', 1], ['unrealised', 1]],
    (held?.positions ?? []).map((one) => ({
      cells: [one.account || '–', one.owner, named(one.instrument), number(one.long), number(one.short), number(one.realised), number(one.unrealised)],
      age: heldAge, limit: 3000,
    })), held?.more_positions);
  table('working', [['strategy'], ['account', 1], ['buys', 1], ['sells', 1], ['most', 1]],
    (held?.working ?? []).map((one) => ({
      cells: [one.strategy, one.account || '–', number(one.buys), number(one.sells), number(one.most)],
      age: heldAge, limit: 3000, alarm: one.most && one.buys + one.sells >= one.most * 0.9,
    })));
  recent(data.recent, named);
  table('times', [['stage'], ['orders', 1], ['p50', 1], ['p99', 1], ['p99.9', 1]],
    Object.entries(data.stages).filter(([, stage]) => stage.n).map(([name, stage]) => ({
      cells: [name, number(stage.n), micros(stage.p50_us), micros(stage.p99_us), micros(stage.p999_us)], age: 0,
    })));
  table('feeds', [['source'], ['journal'], ['frames', 1]],
    data.feeds.map((one) => ({ cells: [one.source, one.journal, number(one.frames)], age: one.age_ms, limit: 5000, alarm: one.is_stale })));
  table('disks', [['recorder'], ['recorded', 1], ['syncs', 1], ['missing', 1]],
    data.disks.map((one) => ({
      cells: [one.recorder, bytes(one.recorded_bytes), number(one.syncs), bytes(one.missing_bytes)], age: 0, alarm: one.refuses_ms !== null || one.missing_bytes > 0,
    })));
  table('durable', [['journal'], ['position', 1], ['behind', 1]],
    data.durable.map((one) => ({ cells: [one.journal, number(one.durable), bytes(one.behind_bytes)], age: 0 })));
  table('readers', [['node'], ['journal'], ['reads'], ['lag', 1], ['ring', 1], ['lost', 1]],
    data.readers.map((one) => ({
      cells: [one.node, one.journal, t(one.gated ? 'gated' : 'loose'), bytes(one.lag_bytes), percent(one.lag_bytes / one.capacity_bytes), bytes(one.lost_bytes)],
      age: 0, alarm: one.lag_bytes > one.capacity_bytes / 2,
    })), data.more_readers);
  table('nodes', [['node'], ['kind'], ['state'], ['starts', 1], ['lost', 1]],
    data.nodes.map((one) => ({
      cells: [one.node, one.kind, one.state, number(one.starts), bytes(one.lost_bytes)], age: one.silent_ms,
      alarm: data.troubles.some((trouble) => trouble.who === one.node),
    })));
  draw(results, per);
}

// Who is about to choose a row finds it where it was.
function recent(orders, named) {
  const element = at('recent');
  if (element.matches(':hover, :focus-within')) return;
  const button = (one) => {
    const made = make('button', { type: 'button', textContent: one.order_id, title: t('showTrace') });
    made.addEventListener('click', () => trace(one.order_id));
    return made;
  };
  table('recent', [['order'], ['strategy'], ['instrument'], ['side'], ['price', 1], ['quantity', 1]],
    orders.map((one) => ({
      cells: [button(one), one.strategy, named(one.instrument), t(one.side), one.price ?? '–', number(one.quantity)], age: one.age_ms, limit: Infinity,
    })));
}

async function trace(order) {
  at('trace-order').value = order;
  const said = at('trace-said');
  try {
    const found = await ask(`/v1/orders/${encodeURIComponent(order)}/trace`);
    const stages = traceStages(found.hops);
    drawTrace(at('trace'), stages);
    const filled = found.quantity === null ? '' : ` · ${number(found.filled ?? 0)} / ${number(found.quantity)}`;
    said.textContent = `${order} · ${found.strategy ?? '–'} · ${found.status}${filled}${stages.length ? '' : ` · ${t('noTimes')}`}`;
  } catch (error) {
    drawTrace(at('trace'), []);
    said.textContent = error.message;
  }
  at('h-trace').focus();
}

function kills(held, age) {
  const kept = held?.source === 'accounts';
  const fallen = held?.kills ?? [];
  const line = at('kills');
  const said = fallen.map((one) => `${t('killed')}: ${one.scope} ${one.name} (${one.reason ?? one.why}${one.by ? `, ${one.by}` : ''})`).join(' · ');
  line.textContent = said || t(kept ? 'noKill' : 'noAccounts');
  line.append(make('span', { className: 'age' }));
  line.lastChild.before(' ');
  stamp(line, age, 3000);
  at('kill').hidden = !kept;
  if (!kept) return;
  const scopes = [['all', t('everything'), { all: true }]];
  for (const one of held.holders.filter((one) => !one.owner)) scopes.push([`a${one.account}`, `${t('account')} ${one.account}`, { account: one.account }]);
  for (const one of last?.nodes ?? []) {
    if (one.kind === 'strategy' || one.kind === 'gateway') scopes.push([`s${one.node}`, `${t('strategy')} ${one.node}`, { strategy: one.node }]);
  }
  const select = at('kill-scope');
  const key = scopes.map(([value]) => value).join();
  if (select.dataset.key === key) return;
  const chosen = select.value;
  select.dataset.key = key;
  select.replaceChildren(...scopes.map(([value, text, body]) => {
    const option = make('option', { value, textContent: text });
    option.dataset.body = JSON.stringify(body);
    return option;
  }));
  if (scopes.some(([value]) => value === chosen)) select.value = chosen;
}

async function doKill(event) {
  event.preventDefault();
  const verb = event.submitter?.value ?? 'kill';
  if (!confirm(t(verb === 'kill' ? 'sure' : 'sureRevive'))) return;
  const answer = at('kill-answer');
  try {
    const what = JSON.parse(at('kill-scope').selectedOptions[0].dataset.body);
    await ask(`/v1/${verb}`, { ...what, why: at('kill-why').value });
    answer.textContent = t('done');
    at('kill-why').value = '';
  } catch (error) {
    answer.textContent = error.message;
  }
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString(lang === 'zh' ? 'zh-CN' : 'en-GB');

function draw(results, per) {
  const total = [...results.values()].reduce((sum, one) => sum + one, 0);
  const values = [Date.now() / 1000, results.size ? total : null, per('orders', 4) || 0, per('rejected', 4) || 0];
  course.forEach((line, index) => {
    line.push(values[index]);
    if (line.length > POINTS) line.shift();
  });
  if (!charts.length) {
    // Asked at each drawing: the colours may change from light to dark.
    const axis = { stroke: () => color('--soft'), grid: { stroke: () => color('--line'), width: 1 }, ticks: { show: false }, size: 56, font: '11px system-ui' };
    const line = (label, stroke) => ({ label, stroke: () => color(stroke), width: 1.5, points: { show: false }, value: (_, value) => number(value) });
    const width = () => Math.max(200, at('chart-result').clientWidth);
    const add = (id, series) => {
      const options = { width: width(), height: 130, series: [{ label: t('time'), value: (_, time) => (time ? clock(time) : '–') }, ...series], axes: [{ ...axis, size: 26, space: 80, values: (_, times) => times.map(clock) }, axis], cursor: { y: false }, padding: [8, 28, 0, 0] };
      charts.push(new uPlot(options, null, at(id)));
    };
    add('chart-result', [line(t('resultToday'), '--accent')]);
    add('chart-orders', [line(t('ordersRate'), '--accent'), line(t('refusedRate'), '--second')]);
    new ResizeObserver(() => charts.forEach((chart) => chart.setSize({ width: width(), height: 130 }))).observe(at('chart-result'));
  }
  charts[0].setData([course[0], course[1]]);
  charts[1].setData([course[0], course[2], course[3]]);
}

function ladder() {
  const element = at('ladder');
  if (!element.tHead) {
    const heads = ['bid', 'price', 'ask'].map((word) => make('th', { textContent: t(word), scope: 'col' }));
    element.createTHead().append(make('tr', {}, ...heads));
    element.createTBody();
    element.append(make('caption', { className: 'age' }));
  }
  if (!quote) return;
  const levels = [...[...quote.asks].reverse().map((level) => ({ ...level, side: 'ask' })), ...quote.bids.map((level) => ({ ...level, side: 'bid' }))];
  const most = Math.max(1, ...levels.map((level) => level.quantity));
  const body = element.tBodies[0];
  while (body.rows.length > levels.length) body.deleteRow(-1);
  levels.forEach((level, index) => {
    const line = body.rows[index] ?? body.insertRow();
    while (line.cells.length < 3) line.insertCell();
    const shown = number(level.quantity);
    line.cells[0].textContent = level.side === 'bid' ? shown : '';
    line.cells[1].textContent = level.price;
    line.cells[2].textContent = level.side === 'ask' ? shown : '';
    line.cells[0].className = level.side === 'bid' ? 'bid' : '';
    line.cells[1].className = 'price';
    line.cells[2].className = level.side === 'ask' ? 'ask' : '';
    for (const cell of line.cells) cell.style.setProperty('--part', `${(level.quantity / most) * 100}%`);
  });
  // By the platform's clock.
  stamp(element, Math.max(0, Date.now() - skew - quote.published_ns / 1e6), 5000);
}

async function instruments() {
  symbols = (await ask('/v1/instruments')).instruments;
  const select = at('symbol');
  const chosen = select.value || sessionStorage.getItem('colo.symbol');
  select.replaceChildren(...symbols.map((one) => make('option', { value: one.symbol, textContent: one.symbol })));
  if (symbols.some((one) => one.symbol === chosen)) select.value = chosen;
  push?.change('quotes');
}

function hear(message) {
  if (message.channel === 'quotes' && message.data.symbol === at('symbol').value) {
    quote = message.data;
  } else if (message.channel === 'platform') {
    look();
  }
}

let looking = false;
async function look() {
  if (looking || !token.get()) return;
  looking = true;
  try {
    const data = await ask('/v1/overview');
    [answered, problem, last] = [performance.now(), null, data];
    skew = Date.now() - data.at_ns / 1e6;
    signed(true);
    show(data);
    if (!symbols.length) await instruments();
  } catch (error) {
    problem = error.message;
    if (error instanceof Refused && (error.status === 401 || error.status === 403)) {
      token.forget();
      signed(false, `${t('badToken')}${error.message}`);
    }
  } finally {
    looking = false;
    verdict();
  }
}

function signed(is, error = '') {
  at('figures').hidden = !is;
  at('leave').hidden = !is;
  if (at('sign').hidden !== is) {
    at('sign').hidden = is;
    if (!is) at('token').focus();
  }
  at('sign-error').textContent = error;
}

at('sign').addEventListener('submit', (event) => {
  event.preventDefault();
  token.set(at('token').value.trim());
  at('token').value = '';
  look();
});
at('leave').addEventListener('click', () => {
  token.forget();
  push.leave();
  location.reload();
});
at('kill').addEventListener('submit', doKill);
at('trace-form').addEventListener('submit', (event) => {
  event.preventDefault();
  trace(at('trace-order').value.trim());
});
at('symbol').addEventListener('change', () => {
  sessionStorage.setItem('colo.symbol', at('symbol').value);
  quote = null;
  at('ladder').tBodies[0]?.replaceChildren();
  push.change('quotes');
});
at('language').addEventListener('click', otherLanguage);
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const action = { n: () => at('main').focus(), b: () => at('symbol').focus(), k: () => at('kill-why').focus(), o: () => at('trace-order').focus(), l: otherLanguage }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

translate();
at('language').textContent = t('other');
at('language').lang = lang === 'zh' ? 'en' : 'zh';
signed(!!token.get());
push = new Push(() => [{ channel: 'platform' }, ...(at('symbol').value ? [{ channel: 'quotes', symbols: [at('symbol').value] }] : [])], hear);
look();
setInterval(look, LOOK);
setInterval(() => {
  ages();
  ladder();
  verdict();
}, 100);

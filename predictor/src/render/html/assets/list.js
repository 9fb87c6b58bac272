// The list of findings. Only the rows that are seen are elements.

const ROW = 76;
const SPARE = 4;

const list = {
  element: byId('list'),
  found: findings,
  selected: null,
  onselect: () => {},
};

const OPEN = {
  open: ['open', (finding) => !finding.suppressed && !finding.known],
  suppressed: ['suppressed', (finding) => Boolean(finding.suppressed)],
  known: ['in the baseline', (finding) => finding.known],
  all: ['all', () => true],
};

function fillFilters() {
  const fill = (id, options) => {
    replace(byId(id), options.map(([value, text]) => h('option', { value }, text)));
    byId(id).addEventListener('change', filter);
  };
  const tally = (of) => {
    const tally = new Map();
    for (const finding of findings) {
      for (const word of new Set([of(finding)].flat())) tally.set(word, (tally.get(word) ?? 0) + 1);
    }
    return tally;
  };
  const options = (tally, text) =>
    [...tally.keys()].sort().map((word) => [`=${word}`, `${text(word)} (${tally.get(word)})`]);
  const codes = tally((finding) => finding.code);
  const titles = new Map(findings.map((finding) => [finding.code, finding.shown.title]));
  fill('filter-code', [['', 'all'], ...options(codes, (code) => `${code} ${titles.get(code)}`)]);
  fill('filter-level', [['', 'all'], ...options(tally((f) => f.level), (word) => LEVEL[word])]);
  fill('filter-status', [['', 'all'], ...options(tally((f) => f.status), (word) => STATUS[word])]);
  fill('filter-test', [['', 'all'], ...options(tally((f) => f.tests), (test) => test)]);
  const open = Object.entries(OPEN).map(([value, [text, fits]]) => {
    return [value, `${text} (${findings.filter(fits).length})`];
  });
  fill('filter-open', open);
  // A list that starts empty although there are findings would look like good news.
  byId('filter-open').value = findings.some(OPEN.open[1]) || !findings.length ? 'open' : 'all';
  byId('search').addEventListener('input', filter);
}

function filter() {
  const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = (id) => byId(id).value.slice(1);
  const [code, level, status, test] = ['filter-code', 'filter-level', 'filter-status', 'filter-test'].map(wanted);
  const isShown = OPEN[byId('filter-open').value][1];
  list.found = findings.filter((finding) =>
    (!code || finding.code === code) &&
    (!level || finding.level === level) &&
    (!status || finding.status === status) &&
    (!test || finding.tests.includes(test)) &&
    isShown(finding) &&
    words.every((word) => finding.text.includes(word)));
  byId('count').textContent = list.found.length === findings.length
    ? count(findings.length, 'finding')
    : `${list.found.length.toLocaleString('en')} of ${count(findings.length, 'finding')}`;
  list.element.scrollTop = 0;
  const stays = list.found.includes(list.selected);
  select(stays ? list.selected : list.found[0] ?? null);
}

// Makes a finding the one that is shown.
function select(finding) {
  const changed = finding !== list.selected;
  list.selected = finding;
  const at = list.found.indexOf(finding);
  if (at >= 0) {
    const [top, height] = [list.element.scrollTop, list.element.clientHeight];
    if (at * ROW < top) list.element.scrollTop = at * ROW;
    if ((at + 1) * ROW > top + height) list.element.scrollTop = (at + 1) * ROW - height;
  }
  drawList();
  if (changed) list.onselect(finding);
}

// The finding so many rows further on.
function move(rows) {
  const at = list.found.indexOf(list.selected) + rows;
  const finding = list.found[Math.max(0, Math.min(list.found.length - 1, at))];
  if (finding) select(finding);
}

function drawList() {
  const { element, found } = list;
  const first = Math.max(0, Math.floor(element.scrollTop / ROW) - SPARE);
  const last = Math.min(found.length, Math.ceil((element.scrollTop + element.clientHeight) / ROW) + SPARE);
  const rows = found.slice(first, last).map((finding, at) => row(finding, first + at));
  if (found.length === 0) {
    const text = findings.length ? 'No finding fits these filters.' : 'Nothing was found.';
    replace(element, h('p', { class: 'nothing' }, text));
  } else {
    replace(element, h('div', { class: 'rows', role: 'presentation', style: `height:${found.length * ROW}px` }, rows));
  }
  if (list.selected && rows.length) element.setAttribute('aria-activedescendant', `row-${list.selected.number}`);
  else element.removeAttribute('aria-activedescendant');
}

function row(finding, at) {
  const parts = finding.best.parts.filter((part) => part.role !== 'waits-too').slice(0, 2);
  const muted = finding.suppressed || finding.known;
  return h('div', {
    id: `row-${finding.number}`,
    class: muted ? 'row muted' : 'row',
    role: 'option',
    style: `top:${at * ROW}px`,
    'aria-selected': String(finding === list.selected),
    'aria-posinset': at + 1,
    'aria-setsize': list.found.length,
    onclick: () => select(finding),
  },
  h('span', { class: 'row-head' }, badges(finding)),
  parts.map((part) => h('span', { class: 'row-place' }, shortPlace(part))));
}

// The end of a place is what tells places apart.
function shortPlace(part) {
  return [h('b', {}, part.operation), h('span', {}, h('bdo', { dir: 'ltr' }, placeText(part.place)))];
}

function badges(finding) {
  return [
    h('span', { class: `badge ${finding.code}` }, finding.code),
    h('span', { class: `badge level ${finding.level}` }, LEVEL[finding.level]),
    finding.status !== finding.level && h('span', { class: `badge status ${finding.status}` }, STATUS[finding.status]),
    finding.suppressed && h('span', { class: 'badge plain' }, 'suppressed'),
    finding.known && h('span', { class: 'badge plain' }, 'in the baseline'),
    h('span', { class: 'number' }, `#${finding.number}`),
  ];
}

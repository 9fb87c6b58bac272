// All traces together: what was looked at, what by, and what is not known.

const MOST_TRACES = 300;

function showSummary() {
  const sum = (of) => project.traces.reduce((all, trace) => all + of(trace), 0);
  const open = findings.filter(OPEN.open[1]);
  const codes = [...new Set(findings.map((finding) => finding.code))].sort();
  const figures = [
    [open.length, 'open'],
    [open.filter((f) => f.level === 'doubtful').length, 'doubtful'],
    [findings.filter((f) => f.status.startsWith('confirmed')).length, 'confirmed by replay'],
    [findings.filter((f) => f.suppressed).length, 'suppressed'],
    [findings.filter((f) => f.known).length, 'in the baseline'],
    [project.traces.length, 'traces'],
    [sum((trace) => trace.events), 'events'],
    ...(project.explored ? [
      [project.explored.suspects, 'suspects tried'],
      [project.explored.runs, 'directed runs'],
    ] : []),
  ];
  replace(byId('summary'),
    h('div', { class: 'figures' }, figures.map(([number, text]) =>
      h('div', {}, h('b', {}, number.toLocaleString('en')), h('span', {}, text)))),
    report.gaps.length > 0 && part('Not seen', h('ul', {}, report.gaps.map((gap) => h('li', {}, sentence(gap))))),
    part('Findings', table(['code', 'what', 'open', 'all'], codes.map((code) => {
      const these = findings.filter((finding) => finding.code === code);
      return [code, these[0].shown.title, these.filter(OPEN.open[1]).length, these.length];
    }))),
    part('Detectors', detectorTable()),
    countsPart(),
    part('Traces', table(['test or program', 'trace', 'threads', 'events', 'findings', 'remarks'], traceRows()),
      project.traces.length > MOST_TRACES && h('p', {}, `and ${count(project.traces.length - MOST_TRACES, 'other')}`)),
    project.skipped.length > 0 && part('Not analysed', table(['file', 'why'], project.skipped.map((s) => [s.name, s.problem]))),
    project.unused_suppressions.length > 0 &&
      part('Suppressions that fit no finding', h('ul', {}, project.unused_suppressions.map((s) => h('li', {}, s)))),
    h('p', { class: 'nothing' }, `Made by racelog ${project.racelog}${
      project.shard ? `, shard ${project.shard.index} of ${project.shard.of}` : ''}.`));
}

const part = (title, ...content) => h('section', { class: 'part' }, h('h2', {}, title), content);

function table(heads, rows) {
  const number = (value) => typeof value === 'number';
  return h('div', { class: 'scrolls' }, h('table', {},
    h('thead', {}, h('tr', {}, heads.map((head, at) => h('th', { scope: 'col', class: number(rows[0]?.[at]) ? 'number' : null }, head)))),
    h('tbody', {}, rows.map((row) => h('tr', {}, row.map((value) =>
      h('td', { class: number(value) ? 'number' : null }, number(value) ? value.toLocaleString('en', { maximumFractionDigits: 6 }) : value)))))));
}

function detectorTable() {
  const runs = new Map();
  for (const trace of project.traces) {
    for (const run of trace.detectors) {
      const all = runs.get(run.name) ?? { traces: 0, unknown: 0, seconds: 0, unsound: run.unsound };
      all.traces += 1;
      all.unknown += run.unknown;
      all.seconds += run.seconds;
      runs.set(run.name, all);
    }
  }
  const found = (name) => findings.filter((f) => f.occurrences.some((o) => o.detectors.includes(name))).length;
  return table(['detector', 'traces', 'findings', 'undecided pairs', 'seconds', 'remarks'],
    [...runs].map(([name, run]) => [name, run.traces, found(name), run.unknown, Number(run.seconds.toPrecision(2)),
      run.unsound ? 'may report what is none, by design' : '']));
}

// What became of the conflicting pairs, if the predictor ran.
function countsPart() {
  const all = project.traces.map((trace) => trace.counts).filter(Boolean);
  if (!all.length) return null;
  const sum = (of) => all.reduce((sum, counts) => sum + Object.values(of(counts)).reduce((a, b) => a + b, 0), 0);
  return part('Conflicting pairs', table(['pairs', 'proven', 'ruled out', 'at the places of a proven race', 'unknown'], [[
    sum((c) => [c.candidates]), sum((c) => c.proven), sum((c) => c.refuted), sum((c) => [c.covered]), sum((c) => c.unknown),
  ]]));
}

function traceRows() {
  const tally = new Map();
  for (const finding of findings) {
    for (const name of new Set(finding.occurrences.map((o) => o.trace))) tally.set(name, (tally.get(name) ?? 0) + 1);
  }
  return project.traces.slice(0, MOST_TRACES).map((trace) => [
    trace.test ?? trace.program ?? '', trace.name, trace.threads, trace.events, tally.get(trace.name) ?? 0,
    [trace.note, trace.unseen_pointers > 0 && `${count(trace.unseen_pointers, 'raw pointer')} not followed`].filter(Boolean).join('; '),
  ]);
}

// Puts the parts together, and gives keys their meaning.

function showTab(name) {
  for (const tab of ['findings', 'summary']) {
    const chosen = tab === name;
    byId(tab).hidden = !chosen;
    byId(`tab-${tab}`).setAttribute('aria-selected', chosen);
    byId(`tab-${tab}`).tabIndex = chosen ? 0 : -1;
  }
  if (name === 'findings') {
    drawList();
    currentTimeline?.redraw();
  } else {
    showSummary();
  }
}

const otherTab = () => (byId('findings').hidden ? 'findings' : 'summary');

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  '/': () => { showTab('findings'); byId('search').focus(); byId('search').select(); },
  b: () => currentTimeline?.show('both'),
  o: () => currentTimeline?.show('observed'),
  w: () => currentTimeline?.show('witness'),
  p: () => currentTimeline?.pair(),
  f: () => currentTimeline?.all(),
  '+': () => currentTimeline?.zoom(1.6),
  '=': () => currentTimeline?.zoom(1.6),
  '-': () => currentTimeline?.zoom(1 / 1.6),
  t: () => theme.toggle(),
  s: () => showTab(otherTab()),
  '?': () => byId('keys').showModal(),
  Escape: () => byId('list').focus(),
};

const LIST_KEYS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  PageDown: () => move(Math.max(1, Math.floor(list.element.clientHeight / ROW))),
  PageUp: () => move(-Math.max(1, Math.floor(list.element.clientHeight / ROW))),
  Home: () => move(-list.found.length),
  End: () => move(list.found.length),
  Enter: () => byId('detail').focus(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open) return;
  const search = byId('search');
  if (event.target === search) {
    if (event.key === 'Escape') {
      search.value = '';
      filter();
    }
    if (['Escape', 'Enter', 'ArrowDown'].includes(event.key)) {
      event.preventDefault();
      list.element.focus();
    }
    return;
  }
  if (event.target.matches('select, input[type=radio]') && event.key !== 'Escape') return;
  const inList = event.target === list.element || (event.target === document.body && !byId('findings').hidden);
  const action = (inList && LIST_KEYS[event.key]) || KEYS[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
}

function start() {
  const open = findings.filter(OPEN.open[1]).length;
  const held = findings.length - open;
  byId('headline').textContent = `${count(open, 'open finding')}${held ? ` and ${count(held, 'other')}` : ''} in ${count(project.traces.length, 'trace')}${
    report.gaps.length ? '; not everything was seen' : ''}`;
  list.onselect = showFinding;
  list.element.addEventListener('scroll', onceAFrame(drawList));
  addEventListener('resize', onceAFrame(() => { drawList(); currentTimeline?.redraw(); }));
  document.addEventListener('keydown', onKey);
  byId('theme').addEventListener('click', () => theme.toggle());
  byId('help').addEventListener('click', () => byId('keys').showModal());
  const tabs = byId('tab-findings').parentElement;
  tabs.addEventListener('click', (event) => {
    const tab = event.target.closest('[role=tab]');
    if (tab) showTab(tab.getAttribute('aria-controls'));
  });
  tabs.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.stopPropagation();
    const name = otherTab();
    showTab(name);
    byId(`tab-${name}`).focus();
  });
  theme.listeners.push(() => currentTimeline?.redraw());
  theme.changed();
  fillFilters();
  const linked = findings.find((finding) => `#${finding.fingerprint}` === location.hash);
  if (linked && !OPEN.open[1](linked)) byId('filter-open').value = 'all';
  filter();
  if (linked) select(linked);
}

start();

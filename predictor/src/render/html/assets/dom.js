// Elements. All text goes through text nodes: nothing that a trace says is ever read as markup.

const byId = (id) => document.getElementById(id);

// An element with attributes, listeners (`on…`) and children; what is null or false is left out.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

const count = (number, one, many = `${one}s`) =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

// The first index whose value is not below `least`, in a sorted array.
function lowerBound(sorted, least) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Runs `draw` once before the next frame, however often it is asked for.
function onceAFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}

const theme = {
  listeners: [],
  get dark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  },
  toggle() {
    document.documentElement.dataset.theme = theme.dark ? 'light' : 'dark';
    theme.changed();
  },
  changed() {
    byId('theme').textContent = theme.dark ? 'Light' : 'Dark';
    theme.listeners.forEach((listener) => listener());
  },
  colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  },
};
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => theme.changed());

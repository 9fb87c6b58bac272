// Lines of source, with the racing ones marked.

const RUST = /(\/\/.*$)|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)')|\b(as|async|await|break|const|continue|crate|dyn|else|enum|fn|for|if|impl|in|let|loop|match|mod|move|mut|pub|ref|return|self|Self|static|struct|super|trait|type|unsafe|use|where|while|true|false)\b|\b(\d[\w.]*)\b|\b(\w+!)/g;
const CLASSES = [null, 'comment', 'string', 'keyword', 'literal', 'macro'];

// A line with its words in colours. What stands in a comment of several lines is not known, and not guessed.
function coloured(line) {
  const parts = [];
  let end = 0;
  for (const match of line.matchAll(RUST)) {
    const group = match.findIndex((text, at) => at > 0 && text !== undefined);
    parts.push(line.slice(end, match.index), h('span', { class: CLASSES[group] }, match[0]));
    end = match.index + match[0].length;
  }
  parts.push(line.slice(end));
  return parts;
}

const NEAR = 4;

// The lines around a place; `marks` are lines and the classes that they get.
function snippet(place, marks) {
  const lines = report.files[place?.file];
  const numbers = Object.keys(lines ?? {}).map(Number).filter((number) => Math.abs(number - place.line) <= NEAR);
  if (!numbers.length) return h('p', { class: 'nothing' }, 'The source is not there.');
  const indent = Math.min(...numbers.filter((n) => lines[n].trim()).map((n) => lines[n].search(/\S/)));
  return h('pre', { class: 'source', tabindex: 0, 'aria-label': `Source around ${placeText(place)}` },
    numbers.sort((a, b) => a - b).map((number) => h('div', { class: `line ${marks.get(number) ?? ''}` },
      h('span', { class: 'line-number' }, number),
      h('code', {}, coloured(lines[number].slice(Number.isFinite(indent) ? indent : 0)), '\n'))));
}

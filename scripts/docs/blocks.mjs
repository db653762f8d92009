// Parses the fenced blocks of a Markdown document, and the action that follows the language of each:
//
//   sh run                       runs the command; all commands of a document share one shell
//   sh background=FILE           runs a job of that shell, and waits until FILE exists
//   LANGUAGE file=PATH           writes the text to PATH
//   diff apply                   applies the text to the checkout with `git apply`
//   json shape                   requires JSON output of the command above, with at least these keys, of these types
//   LANGUAGE by-hand: REASON     does nothing
//
// A block without an action is only shown. In sh, ts, python and diff that is an error, so that every command in the
// documents either runs or states why it does not.

const NEEDS_A_WORD = ['sh', 'ts', 'python', 'diff'];

/** Throws if a block is not closed, or its action is missing or unknown. */
export function readBlocks(markdown, name) {
  const blocks = [];
  let open;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^(\s*)```(.*)$/.exec(line);
    if (open === undefined) {
      if (fence !== null) open = { indent: fence[1].length, info: fence[2].trim(), line: index + 1, lines: [] };
    } else if (fence !== null && fence[2] === '') {
      blocks.push(toBlock(open, name));
      open = undefined;
    } else {
      open.lines.push(line.slice(0, open.indent).trim() === '' ? line.slice(open.indent) : line);
    }
  }
  if (open !== undefined) throw new Error(`${name}:${open.line}: the block is not closed`);
  return blocks;
}

function toBlock({ info, line, lines }, name) {
  const [language = '', ...words] = info.split(' ');
  const word = words.join(' ');
  const block = { language, line, text: `${lines.join('\n')}\n`, ...meaningOf(language, word) };
  if (block.action === undefined) throw new Error(`${name}:${line}: \`${info}\` says nothing that is known`);
  return block;
}

function meaningOf(language, word) {
  if (word === '') return { action: NEEDS_A_WORD.includes(language) ? undefined : 'show' };
  if (/^by-hand: \S/.test(word)) return { action: 'show' };
  if (language === 'sh' && word === 'run') return { action: 'run' };
  if (language === 'json' && word === 'shape') return { action: 'shape' };
  if (language === 'diff' && word === 'apply') return { action: 'apply' };
  const [, key, value] = /^(background|file)=(\S+)$/.exec(word) ?? [];
  if (key === 'background') return language === 'sh' ? { action: 'background', file: value } : {};
  return key === 'file' ? { action: 'file', file: value } : {};
}

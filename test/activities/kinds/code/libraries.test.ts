// The libraries of the sandbox. QuickJS has no data of time zones, digests or random bytes; they come from Node.js.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { loadQuickJs, runProgram } from '../../../../activities/kinds/code/child/run-program.js';

async function run(code: string): Promise<unknown> {
  const program = { code, inputs: '{}', marker: 'marker', hasMarks: false, timeoutMs: 30_000 };
  const reply = await runProgram(await loadQuickJs(), program, () => Promise.reject(new Error('no files')));
  return reply.status === 'returned' ? JSON.parse(reply.json) : reply;
}

describe('the library luxon in code', function () {
  this.timeout(60_000);

  it('knows the time zones with their changes, and formats dates', async () => {
    const code = `
      const { DateTime } = luxon;
      const inZone = (text) => DateTime.fromISO(text, { zone: 'UTC' }).setZone('America/New_York').toISO();
      return [inZone('2024-03-05T12:00:00'), inZone('2024-07-05T12:00:00'),
        DateTime.fromISO('2024-07-05T12:00:00', { zone: 'Asia/Tokyo' }).toUTC().toISO(),
        DateTime.fromISO('2024-07-05', { zone: 'UTC' }).toFormat('cccc d LLLL yyyy')];`;
    assert.deepEqual(await run(code), [
      '2024-03-05T07:00:00.000-05:00',
      '2024-07-05T08:00:00.000-04:00',
      '2024-07-05T03:00:00.000Z',
      'Friday 5 July 2024',
    ]);
  });

  it('has no date for a zone or a text that there is not, and says so', async () => {
    const code = `
      const { DateTime } = luxon;
      return [DateTime.now().setZone('Nowhere/Else').isValid, DateTime.fromISO('tomorrow').isValid,
        DateTime.now().setZone('x'.repeat(1000)).isValid];`;
    assert.deepEqual(await run(code), [false, false, false]);
  });

  it('has formats that refuse an invalid date, as those of Node.js do', async () => {
    const code = `
      const day = luxon.DateTime.fromISO('2024-07-05', { zone: 'UTC' }).setLocale('en-US');
      const { dtf } = day.loc.dtFormatter(day, {});
      const format = (date) => {
        try {
          return dtf.format(date);
        } catch (error) {
          return error.name;
        }
      };
      return [format(NaN), format(new Date('tomorrow')), format(day.toMillis())];`;
    assert.deepEqual(await run(code), ['RangeError', 'RangeError', '7/5/2024']);
  });

  it('may be replaced by a variable of the code', async () => {
    assert.equal(await run('const luxon = 5; return luxon;'), 5);
    assert.equal(await run('globalThis.luxon = 6; return luxon;'), 6);
  });
});

describe('the libraries for texts in code', function () {
  this.timeout(60_000);

  it('read HTML, with its entities, and write it as text and as Markdown', async () => {
    const html = '<h1>Tea &amp; cake</h1><ul><li class=a>one<li>two &copy;</ul>';
    const code = `
      const $ = cheerio.load(${JSON.stringify(html)});
      return [$('li').toArray().map((item) => $(item).text()), $('.a').attr('class'),
        htmlToText.convert(${JSON.stringify(html)}), htmlToMarkdown.translate(${JSON.stringify(html)})];`;
    assert.deepEqual(await run(code), [
      ['one', 'two ©'],
      'a',
      'TEA & CAKE\n\n * one\n * two ©',
      '# Tea & cake\n\n* one\n* two ©',
    ]);
  });

  it('write Markdown as HTML, blocks of code included', async () => {
    const code = "return new showdown.Converter().makeHtml('# A\\n\\n`a < b`\\n\\n```js\\n1 < 2\\n```');";
    assert.equal(
      await run(code),
      '<h1 id="a">A</h1>\n<p><code>a &lt; b</code></p>\n<pre><code class="js language-js">1 &lt; 2\n</code></pre>',
    );
  });

  it('read and write XML, and say where it is broken', async () => {
    const code = `
      let read, broken;
      new xml2js.Parser({ explicitArray: false }).parseString('<a b="1"><c>x</c><c>y</c></a>', (error, value) => (read = value));
      new xml2js.Parser().parseString('<a><b></a>', (error) => (broken ??= error.message));
      return [read, new xml2js.Builder({ headless: true }).buildObject({ a: { b: 1 } }), broken];`;
    assert.deepEqual(await run(code), [
      { a: { $: { b: '1' }, c: ['x', 'y'] } },
      '<a>\n  <b>1</b>\n</a>',
      'Unexpected close tag\nLine: 0\nColumn: 10\nChar: >',
    ]);
  });

  it('read and write tables', async () => {
    const code = `
      const sheet = xlsx.utils.json_to_sheet([{ a: 1, b: 'x' }]);
      const bytes = new Uint8Array(xlsx.write({ SheetNames: ['S'], Sheets: { S: sheet } }, { bookType: 'xlsx', type: 'array' }));
      const back = xlsx.read(bytes, { type: 'array' });
      return [bytes.length > 1000, xlsx.utils.sheet_to_json(back.Sheets.S), Papa.parse(inputs.csv ?? 'a;"b ""c"""').data];`;
    assert.deepEqual(await run(code), [true, [{ a: 1, b: 'x' }], [['a', 'b "c"']]]);
  });

  it('give digests, and bytes that nobody can foresee', async () => {
    const code = `
      return [crypto.hash('sha256', 'tea\\0'), crypto.hash('MD5', 'é', 'base64'), crypto.hmac('sha3-256', 'key', 'text'),
        crypto.randomBytes(20).length, crypto.randomUUID() === crypto.randomUUID(), crypto.randomUUID()];`;
    const [sha, md5, hmac, length, isSame, uuid] = (await run(code)) as unknown[];
    assert.equal(sha, createHash('sha256').update('tea\0').digest('hex'));
    assert.equal(md5, createHash('md5').update('é').digest('base64'));
    assert.equal(hmac, createHmac('sha3-256', 'key').update('text').digest('hex'));
    assert.deepEqual([length, isSame], [20, false]);
    assert.match(String(uuid), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('refuse what there is not', async () => {
    const failing = (call: string): string => `try { ${call}; } catch (error) { return error.message; }`;
    assert.equal(await run(failing("crypto.hash('none', 'a')")), 'Invalid algorithm or encoding');
    assert.equal(await run(failing("crypto.hash('md5', 'a', 'latin1')")), 'Invalid algorithm or encoding');
    for (const count of ['0', '-1', '1.5', '65537', '1e12', "'x'", 'undefined'])
      assert.equal(await run(failing(`crypto.randomBytes(${count})`)), 'Invalid number of random bytes', count);
  });
});

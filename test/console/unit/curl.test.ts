import assert from 'node:assert/strict';
import { readCurl } from '../../../console/kinds/curl/read-curl.js';

describe('a cURL command', () => {
  it('is read with method, address, headers, query and JSON body', () => {
    const command = String.raw`$ curl -sSL -X PUT 'https://api.example.com/orders?state=open&x=a%20b' \
      -H 'Content-Type: application/json' -H "X-Note: it's \"here\"" --data-raw $'{"name": "a\u0041\'b\n", "sizes": [1, 2]}'`;
    assert.deepEqual(readCurl(command.replace(String.raw`\n"`, String.raw`\\n"`)), {
      url: 'https://api.example.com/orders?state=open&x=a%20b',
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', 'X-Note': 'it\'s "here"' },
      body: { name: "aA'b\n", sizes: [1, 2] },
      remarks: [],
    });
  });

  it('posts a form, where a name occurs once, else its text', () => {
    const { method, headers, body } = readCurl("curl example.com -d a=1 -d 'b=x%20y+z'");
    assert.deepEqual(
      [method, headers, body],
      ['POST', { 'Content-Type': 'application/x-www-form-urlencoded' }, { a: '1', b: 'x y z' }],
    );
    assert.equal(readCurl('curl example.com -d a=1 -d a=2').body, 'a=1&a=2');
    assert.equal(readCurl('curl example.com -H "Content-Type: text/plain" -d hello').body, 'hello');
    assert.deepEqual(readCurl(`curl example.com -d '{"a": 1}'`).body, { a: 1 });
    assert.equal(
      readCurl(`curl example.com --json '{"id": 12345678901234567890}'`).body,
      '{"id": 12345678901234567890}',
    );
  });

  it('puts data into the query with -G, encoded where curl encodes', () => {
    const { url, method, body } = readCurl("curl -G http://a.example/find?x=1 --data-urlencode 'q=a b&c' -d n=2");
    assert.equal(url, 'http://a.example/find?x=1&q=a%20b%26c&n=2');
    assert.deepEqual([method, body], ['GET', undefined]);
  });

  it('encodes parts of the query as curl does: not behind a plus, and without files', () => {
    const { url, method, body, remarks } = readCurl(
      "curl 'http://a.example/find?x=1' --url-query 'q=a b&c' --url-query +y=%20z --url-query mail@home=1 --url-query n@f.txt",
    );
    assert.equal(url, 'http://a.example/find?x=1&q=a%20b%26c&y=%20z&mail@home=1');
    assert.deepEqual([method, body, remarks], ['GET', undefined, ['The file f.txt was not read for n.']]);
    assert.deepEqual(readCurl('curl a.example --url-query @f.txt').remarks, ['The file f.txt was not read.']);
    assert.equal(readCurl('curl a.example --url-query q=1 -d x=2').url, 'http://a.example?q=1');
    assert.deepEqual(readCurl('curl a.example --data-urlencode mail@home=1').body, { 'mail@home': '1' });
  });

  it('makes headers of credentials, wherever they stand', () => {
    const expected = { Authorization: 'Basic YWRhOmzDtmls' };
    assert.deepEqual(readCurl('curl -u ada:löil https://a.example').headers, expected);
    const { url, headers } = readCurl('curl https://ada:l%C3%B6il@a.example/x');
    assert.deepEqual([url, headers], ['https://a.example/x', expected]);
    assert.deepEqual(readCurl('curl --oauth2-bearer=abc a.example').headers, { Authorization: 'Bearer abc' });
    assert.deepEqual(readCurl('curl a.example -b "s=1; t=2"').headers, { Cookie: 's=1; t=2' });
    assert.deepEqual(readCurl('curl a.example -b s=1 -b t=2').headers, { Cookie: 's=1; t=2' });
    const twice = readCurl('curl a.example -H "X-Tag: a" -H "x-tag: b"');
    assert.deepEqual(twice.headers, { 'X-Tag': 'b' });
    assert.deepEqual(twice.remarks, ['The header x-tag is there twice; the last one was taken.']);
    assert.match(readCurl('curl "a.example?api_key=1"').remarks.join(), /The query holds api_key/);
  });

  it('reads escapes of both lengths, and posts data of a file', () => {
    assert.equal(readCurl(String.raw`curl a.example --data-raw $'\u0041\U0001F600'`).body, 'A\u{1F600}');
    assert.equal(readCurl('curl a.example --data-urlencode note@file.txt').method, 'POST');
  });

  it('keeps a form with files, without the files', () => {
    const { method, body, remarks } = readCurl("curl a.example -F 'note=hi;type=text/plain' -F image=@cat.png");
    assert.deepEqual([method, body], ['POST', { $form: { note: 'hi', image: '' } }]);
    assert.deepEqual(remarks, ['The file cat.png was not read. Choose it for image under Body.']);
  });

  it('keeps each of the fields of a form that have one name', () => {
    const { body } = readCurl('curl a.example -F tag=a -F note=hi -F tag=b -F tag=c -F __proto__=d');
    const fields = Object.entries((body as { $form: object }).$form);
    assert.deepEqual(fields, [
      ['tag', ['a', 'b', 'c']],
      ['note', 'hi'],
      ['__proto__', 'd'],
    ]);
  });

  it('says what it does not read', () => {
    const { remarks, timeout, method } = readCurl(
      'curl -k --proxy p:1 --frob -m 5 -T file.bin https://a.example https://b.example -o out.json | jq .',
    );
    assert.deepEqual(remarks, [
      'The option -k was not read.',
      'The option --frob was not read.',
      'What follows the command was not read: | jq .',
      'Only the first of 2 addresses was read.',
      'The proxy was not read.',
      'The file was not read. Choose it under Body.',
    ]);
    assert.deepEqual([timeout, method], [5, 'PUT']);
    const file = readCurl('curl a.example -d @body.json');
    assert.deepEqual([file.method, file.remarks], ['POST', ['The file body.json was not read. Choose it under Body.']]);
  });

  it('takes no value of another option for the address', () => {
    for (const option of ['-U', '-sU', '--proxy-user', '--socks5', '--proxy-pass', '--noproxy', '--max-redirs', '-C']) {
      const { url, remarks } = readCurl(`curl ${option} ada:secret https://a.example`);
      const read = option === '-sU' ? '-U' : option;
      assert.deepEqual([url, remarks], ['https://a.example', [`The option ${read} was not read.`]]);
    }
    for (const option of ['-Uada:secret', '--proxy-user=ada:secret']) {
      const { url, remarks } = readCurl(`curl ${option} https://a.example`);
      assert.equal(url, 'https://a.example');
      assert.doesNotMatch(remarks.join(), /secret/);
    }
    assert.deepEqual(readCurl('curl --stderr log.txt https://a.example').remarks, []);
  });

  it('is refused where it is none', () => {
    assert.throws(() => readCurl('wget a.example'), /must begin with curl/);
    assert.throws(() => readCurl(''), /must begin with curl/);
    assert.throws(() => readCurl('curl -X POST'), /no address/);
    assert.throws(() => readCurl("curl 'a.example"), /single quote is not closed/);
  });
});

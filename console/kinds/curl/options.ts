// The options of curl that the import recognizes.

/** Options with a value, each with all of its names. The first name identifies the option. */
const WITH_VALUE: readonly (readonly string[])[] = [
  ['request', 'X'],
  ['header', 'H'],
  ['data', 'd', 'data-ascii'],
  ['data-raw'],
  ['data-binary'],
  ['data-urlencode'],
  ['json'],
  ['form', 'F'],
  ['form-string'],
  ['user', 'u'],
  ['user-agent', 'A'],
  ['referer', 'e'],
  ['cookie', 'b'],
  ['oauth2-bearer'],
  ['max-time', 'm'],
  ['url'],
  ['upload-file', 'T'],
  ['url-query'],
  ['range', 'r'],
  // The following options are not read. Each has a remark (`NOT_READ` in read-curl.ts) or is in `OF_OUTPUT`.
  ['proxy', 'x'],
  ['cert', 'E'],
  ['key'],
  ['cacert'],
  ['cookie-jar', 'c'],
  ['connect-timeout'],
  ['retry'],
  ['retry-delay'],
  ['aws-sigv4'],
  ['config', 'K'],
  ['output', 'o'],
  ['write-out', 'w'],
  ['dump-header', 'D'],
  ['output-dir'],
  ['stderr'],
  ['trace'],
  ['trace-ascii'],
];

/**
 * The other options of curl with a value, by all of their names: not read, but listed so that their values, such as a
 * proxy's password, are not taken for addresses.
 */
const OTHERS_WITH_VALUE: ReadonlySet<string> = new Set(
  (
    'abstract-unix-socket alt-svc capath cert-type ciphers connect-to continue-at C create-file-mode crlfile curves ' +
    'delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url ech egd-file engine etag-compare ' +
    'etag-save expect100-timeout ftp-account ftp-alternative-to-user ftp-method ftp-port P ftp-ssl-ccc-mode ' +
    'happy-eyeballs-timeout-ms haproxy-clientip hostpubmd5 hostpubsha256 hsts interface ip-tos ipfs-gateway ' +
    'keepalive-cnt keepalive-time key-type krb libcurl limit-rate local-port login-options mail-auth mail-from ' +
    'mail-rcpt max-filesize max-redirs netrc-file noproxy parallel-max pass pinnedpubkey preproxy proto ' +
    'proto-default proto-redir proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile ' +
    'proxy-header proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers ' +
    'proxy-tlsauthtype proxy-tlspassword proxy-tlsuser proxy-user U proxy1.0 pubkey quote Q random-file rate ' +
    'request-target resolve retry-max-time sasl-authzid service-name socks4 socks4a socks5 socks5-gssapi-service ' +
    'socks5-hostname speed-limit Y speed-time y telnet-option t tftp-blksize time-cond z tls-max tls13-ciphers ' +
    'tlsauthtype tlspassword tlsuser trace-config unix-socket variable vlan-priority'
  ).split(' '),
);

/** Options without a value that are ignored without a remark, because they do not change what the node sends. */
const QUIET = [
  'silent',
  's',
  'show-error',
  'S',
  'verbose',
  'v',
  'include',
  'i',
  'fail',
  'f',
  'compressed',
  'location',
  'L',
  'progress-bar',
  '#',
  'globoff',
  'g',
  'no-buffer',
  'N',
  'http1.1',
  'http2',
  'remote-name',
  'O',
];
/** Options with a value that only concern curl's output. */
const OF_OUTPUT = ['output', 'write-out', 'dump-header', 'output-dir', 'stderr', 'trace', 'trace-ascii'];

export interface Option {
  name: string;
  value: string;
}

interface ReadOptions {
  options: Option[];
  /** Words that are no options. */
  addresses: string[];
  /** Unknown options and those of `OTHERS_WITH_VALUE`, as they are written, but without their values. */
  unknown: string[];
}

/** Reads the words after `curl`. */
export function readOptions(words: readonly string[]): ReadOptions {
  const found: ReadOptions = { options: [], addresses: [], unknown: [] };
  const queue = [...words];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (!word.startsWith('-') || word === '-') found.addresses.push(word);
    else if (word.startsWith('--')) readLong(word.slice(2), queue, found);
    else readShort(word.slice(1), queue, found);
  }
  found.options = found.options.filter(({ name }) => !OF_OUTPUT.includes(name));
  return found;
}

function readLong(word: string, queue: string[], found: ReadOptions): void {
  const [written = '', ...rest] = word.split('=');
  const name = fullName(written);
  if (name !== undefined) found.options.push({ name, value: rest.length > 0 ? rest.join('=') : (queue.shift() ?? '') });
  else if (OTHERS_WITH_VALUE.has(written)) {
    found.unknown.push(`--${written}`);
    if (rest.length === 0) queue.shift();
  } else readFlag(written, `--${written}`, found);
}

/** `-sXPOST` is `-s -X POST`. */
function readShort(word: string, queue: string[], found: ReadOptions): void {
  for (const [at, letter] of Array.from(word).entries()) {
    const name = fullName(letter);
    if (name !== undefined) {
      const rest = word.slice(at + 1);
      found.options.push({ name, value: rest === '' ? (queue.shift() ?? '') : rest });
      return;
    }
    if (OTHERS_WITH_VALUE.has(letter)) {
      found.unknown.push(`-${letter}`);
      if (word.slice(at + 1) === '') queue.shift();
      return;
    }
    readFlag(letter, `-${letter}`, found);
  }
}

function readFlag(name: string, written: string, found: ReadOptions): void {
  if (name === 'get' || name === 'G') found.options.push({ name: 'get', value: '' });
  else if (name === 'head' || name === 'I') found.options.push({ name: 'head', value: '' });
  else if (!QUIET.includes(name)) found.unknown.push(written);
}

function fullName(name: string): string | undefined {
  return WITH_VALUE.find((names) => names.includes(name))?.[0];
}

// Secrets (canaries) that a search finds in any encoding: an encoding leaves the core of each unchanged, or turns it
// into one of a few known forms.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

export interface Canary {
  name: string;
  value: string;
  /** The encoded forms of its core. */
  forms: string[];
}

/** A secret with a core of letters and digits, between characters that each encoding writes differently. */
export function createCanary(name: string, toValue = (core: string) => `a"/+é <${core}>&'`): Canary {
  const core = randomBytes(12).toString('hex');
  return { name, value: toValue(core), forms: formsOf(core) };
}

/** A secret that was made elsewhere; it should consist of letters and digits. */
export function watch(name: string, value: string): Canary {
  return { name, value, forms: formsOf(value) };
}

/** "name as form" of every canary that the text contains. */
export function findCanaries(text: string, canaries: readonly Canary[]): string[] {
  return canaries.flatMap(({ name, forms }) =>
    forms.filter((form) => text.includes(form)).map((form) => `${name} as ${form}`),
  );
}

/** The encodings in which a target may send back what it received. */
export function echoesOf(value: string): Record<string, unknown> {
  const bytes = Buffer.from(value);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return {
    plain: value,
    json: JSON.stringify(value),
    ascii: JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`),
    twice: JSON.stringify(JSON.stringify({ value })),
    url: encodeURIComponent(value),
    lower: encodeURIComponent(value).replace(/%../g, (escape) => escape.toLowerCase()),
    form: new URLSearchParams({ value }).toString(),
    urlTwice: encodeURIComponent(encodeURIComponent(value)),
    html: value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;'),
    hex: [bytes.toString('hex'), bytes.toString('hex').toUpperCase()],
    base64: ['', 'u', 'u:'].map((before) => base64(`${before}${value}`)),
    base64url: bytes.toString('base64url'),
    wrapped: base64(value.repeat(3)).replace(/.{16}/g, '$&\n'),
    base64OfUrl: base64(`x=${encodeURIComponent(value)}`),
    base64OfJson: base64(JSON.stringify({ value })),
    [value]: 'as a key',
  };
}

/** Every file below the directory, as bytes, except those that match `skip`. */
export function readFiles(directory: string, skip: RegExp): { file: string; text: string }[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => !skip.test(file) && statSync(path.join(directory, file)).isFile())
    .map((file) => ({ file, text: readFileSync(path.join(directory, file), 'latin1') }));
}

function formsOf(core: string): string[] {
  const hex = Buffer.from(core).toString('hex');
  return [core, hex, hex.toUpperCase(), ...[0, 1, 2].map((shift) => base64Of(core, shift))];
}

/** The base64 characters that depend on the core alone when `shift` bytes come before it. */
function base64Of(core: string, shift: number): string {
  const encoded = Buffer.from('x'.repeat(shift) + core).toString('base64');
  return encoded.slice(shift === 0 ? 0 : 4, Math.floor(((shift + core.length) * 8) / 6 / 4) * 4);
}

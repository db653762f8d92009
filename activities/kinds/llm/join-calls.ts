// Joins the pieces of streamed tool calls. Providers differ in how a piece identifies its call.
import { isObject, type JsonObject } from '../../../graph/json.js';
import { joinFields } from './join-values.js';

interface OpenCall {
  id: string | number | undefined;
  name: string;
  /** Text, unless the provider sends the arguments as a JSON value. */
  written: unknown;
  progress: ObjectProgress;
  /** The other fields of the call and of its function. */
  fields: JsonObject;
  functionFields: JsonObject;
}

interface Piece {
  index: unknown;
  id: string | number | undefined;
  name: string;
  written: unknown;
}

export class JoinedCalls {
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<unknown, OpenCall>();
  readonly #byId = new Map<unknown, OpenCall>();

  /** Returns true if the piece starts a call. */
  add({ index, id: rawId, function: rawFunction, ...fields }: JsonObject): boolean {
    const {
      name: rawName,
      arguments: written,
      ...functionFields
    } = isObject(rawFunction) ? rawFunction : ({} as JsonObject);
    const piece: Piece = { index, id: toId(rawId), name: typeof rawName === 'string' ? rawName : '', written };
    const known = this.#find(piece);
    const call = known === undefined || startsCall(piece, known) ? this.#open(piece) : known;
    if (call.id === undefined && piece.id !== undefined) {
      call.id = piece.id;
      this.#byId.set(call.id, call);
    }
    // Some providers repeat the name in each piece.
    if (piece.name !== call.name) call.name += piece.name;
    addArguments(call, written);
    joinFields(call.fields, Object.entries(fields));
    joinFields(call.functionFields, Object.entries(functionFields));
    return call !== known;
  }

  toList(): JsonObject[] {
    return this.#calls.map(({ id, name, written, fields, functionFields }) => ({
      ...fields,
      ...(id !== undefined && { id }),
      type: fields['type'] || 'function',
      function: { ...functionFields, ...(name !== '' && { name }), arguments: written },
    }));
  }

  #find({ index, id }: Piece): OpenCall | undefined {
    if (typeof index === 'number') return this.#byIndex.get(index);
    return (id === undefined ? undefined : this.#byId.get(id)) ?? this.#calls.at(-1);
  }

  #open({ index }: Piece): OpenCall {
    const call: OpenCall = {
      id: undefined,
      name: '',
      written: '',
      progress: new ObjectProgress(),
      fields: {},
      functionFields: {},
    };
    this.#calls.push(call);
    if (typeof index === 'number') this.#byIndex.set(index, call);
    return call;
  }
}

/**
 * Returns true if the piece starts a new call instead of continuing the open one. Only a piece with a name does,
 * because some gateways give each piece a new id. If the ids don't distinguish the calls, the piece must also have
 * arguments, and those of the open call must be complete.
 */
function startsCall({ id, name, written }: Piece, open: OpenCall): boolean {
  if (name === '' || (id !== undefined && id === open.id)) return false;
  if (id !== undefined && open.id !== undefined) return true;
  return isWhole(open) && !isBlank(written);
}

function toId(id: unknown): string | number | undefined {
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? id : undefined;
}

function isBlank(written: unknown): boolean {
  return written === undefined || written === null || (typeof written === 'string' && written.trim() === '');
}

function isWhole({ written, progress }: OpenCall): boolean {
  return typeof written === 'string' ? progress.isWhole : true;
}

function addArguments(call: OpenCall, written: unknown): void {
  if (typeof written !== 'string') call.written = written ?? call.written;
  else if (typeof call.written === 'string') {
    call.written += written;
    call.progress.add(written);
  }
}

const [QUOTE, BACKSLASH, OPENING, CLOSING] = [0x22, 0x5c, new Set([0x5b, 0x7b]), new Set([0x5d, 0x7d])];

/** Scans a JSON text that arrives in pieces, to detect when its object is complete. */
class ObjectProgress {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasClosed = false;

  get isWhole(): boolean {
    return this.#hasClosed && this.#depth === 0;
  }

  add(piece: string): void {
    for (let at = 0; at < piece.length; at += 1) this.#takeUnit(piece.charCodeAt(at));
  }

  #takeUnit(unit: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString && unit === BACKSLASH) this.#isEscaped = true;
    else if (unit === QUOTE) this.#isInString = !this.#isInString;
    else if (this.#isInString) return;
    else if (OPENING.has(unit)) this.#depth += 1;
    else if (CLOSING.has(unit)) {
      this.#depth -= 1;
      this.#hasClosed = true;
    }
  }
}

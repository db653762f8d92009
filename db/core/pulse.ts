// Watches on a separate connection whether PostgreSQL answers and has free disk space. A statement cannot notice that
// the server is frozen: the kernel keeps its connections open, and the server does not count the statement's time.
import pg from 'pg';
import { Hosts, ReadOnlyServerError } from './hosts.js';
import { outageOf, type Outage } from './outage.js';
import { sleep } from './sleep.js';

export type DatabaseState = 'well' | Outage;

/** The part of the pulse that other modules read. */
export type DatabaseHealth = Pick<DatabasePulse, 'state'>;

/**
 * Connections that may have lost an answer. A firewall or a network address translation may drop a connection without
 * notifying either side. A statement would then wait for hours.
 */
export interface SuspectConnections {
  /** Returns the server processes of connections that have waited long for one statement. */
  waiting(): number[];
  /**
   * `asked` is a result of `waiting`; `busy` are those of its processes that are executing a statement. Closes a
   * connection that was not busy in two calls in a row, because its answer is lost.
   */
  cutIfOver(asked: readonly number[], busy: readonly number[]): void;
}

interface PulseOptions {
  /** May list several hosts. The one that takes writes is watched. */
  url: string;
  applicationName: string;
  /** `cause` is the error that changed the state; undefined if none did, as when the database is well again. */
  onChange: (state: DatabaseState, cause: unknown) => void;
}

const ASK_EVERY_MS = 1_000;
/** PostgreSQL counts as not answering after this time without an answer to any statement. */
const ANSWER_WITHIN_MS = 5_000;
const TICK_MS = 250;
const REPLACE_AFTER_MS = 50;
const CONNECT_AGAIN_MS = 500;
/**
 * The longest pause between two checks for free disk space. It is shortened at random by up to a quarter, so that the
 * processes do not check at the same time.
 */
const LOOK_FOR_ROOM_MS = 2_000;

/** Makes `LOOK_FOR_ROOM` write a temporary file instead of using memory, and limits its time. */
const ROOM_SETTINGS = `SET work_mem = '64kB'; SET temp_tablespaces = ''; SET statement_timeout = '10s'`;
/**
 * Writes 4 MiB to a temporary file in the database's tablespace, but changes no table, writes no WAL and needs no
 * right. PostgreSQL deletes the file at the end of the statement.
 */
const LOOK_FOR_ROOM = `
  WITH filler AS MATERIALIZED (SELECT repeat('x', 4000) || n FROM generate_series(1, 1024) AS n)
  SELECT count(*) FROM filler`;
const IS_WRITABLE = `SELECT current_setting('transaction_read_only') = 'off' AS "isWritable"`;

export class DatabasePulse {
  readonly #options: PulseOptions;
  readonly #hosts: Hosts;
  readonly #stopped = new AbortController();
  readonly #waitsEnded = new AbortController();
  readonly #loop: Promise<void>;
  readonly #watchers = new Set<() => void>();
  readonly #suspects: SuspectConnections[] = [];
  #state: DatabaseState = 'well';
  /** True after a statement failed with `no room`, until `LOOK_FOR_ROOM` succeeds or fails for another reason. */
  #lacksRoom = false;
  /** The number of statements of the process that succeeded. */
  #answered = 0;
  /** Aborted to check the database before the pause is over. */
  #wake = new AbortController();

  constructor(options: PulseOptions) {
    this.#options = options;
    this.#hosts = new Hosts(options.url);
    this.#loop = this.#run();
  }

  get state(): DatabaseState {
    return this.#state;
  }

  /** Reports that a statement succeeded. */
  reportAnswer(): void {
    this.#answered += 1;
  }

  /** Reports the error of a statement, or of an attempt to connect. */
  reportError(error: unknown): void {
    const outage = outageOf(error);
    if (outage === 'no room') {
      this.#lacksRoom = true;
      if (this.#state === 'well') this.#change('no room', error);
    }
    if (outage === 'no answer' && this.#state === 'well') this.#wake.abort();
  }

  /** `watcher` is called after each change of the state. Call the result to remove it. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  watchConnections(connections: SuspectConnections): void {
    this.#suspects.push(connections);
  }

  /** Ends all waits in `until` and makes later calls return at once, because the process stops. */
  endWaits(): void {
    this.#waitsEnded.abort();
  }

  /** Resolves when `isReached` is true of the state, after `timeoutMs` at the latest. */
  async until(isReached: (state: DatabaseState) => boolean, timeoutMs: number): Promise<void> {
    if (isReached(this.#state)) return;
    const reached = new AbortController();
    const unwatch = this.watch(() => {
      if (isReached(this.#state)) reached.abort();
    });
    const signal = AbortSignal.any([reached.signal, this.#waitsEnded.signal]);
    await sleep(timeoutMs, signal);
    unwatch();
  }

  async stop(): Promise<void> {
    this.endWaits();
    this.#stopped.abort();
    this.#wake.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stopped.signal.aborted) {
      const { url } = this.#hosts;
      try {
        await this.#watchOneConnection(url);
        failures = 0;
        // A broken connection is replaced without a change of the state, because the server may still be reachable. The
        // state changes if no new connection can be opened, or if an open one gets no answer.
        await this.#pause(REPLACE_AFTER_MS);
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        this.#hosts.leave(url);
        failures += 1;
        // After `NoAnswer` the state changes before another host is tried, because the change closes the connections on
        // which statements still wait.
        if (failures < this.#hosts.count && !(error instanceof NoAnswer)) continue;
        failures = 0;
        this.#change('no answer', error);
        await this.#pause(CONNECT_AGAIN_MS);
      }
    }
  }

  /**
   * Resolves when the connection has broken, or the pulse was stopped. Rejects if no connection could be opened, if
   * PostgreSQL does not answer on it, or if the server takes no writes and there is another host.
   */
  async #watchOneConnection(url: string): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      application_name: this.#options.applicationName,
      keepAlive: true,
    });
    let isConnected = false;
    let hasBroken = false;
    client.on('error', () => (hasBroken = true));
    client.on('end', () => (hasBroken = true));
    const ask = <Row>(text: string): Promise<Row | undefined> =>
      this.#within(client.query(text)).then(({ rows }) => rows[0] as Row | undefined);
    try {
      await this.#within(client.connect());
      isConnected = true;
      await this.#within(client.query(ROOM_SETTINGS));
      if (this.#hosts.count > 1) this.#refuseReadOnly(url, await ask(IS_WRITABLE));
      while (!this.#stopped.signal.aborted) {
        await this.#findState(url, ask);
        await this.#pause(this.#state === 'well' ? ASK_EVERY_MS : LOOK_FOR_ROOM_MS * (0.75 + Math.random() / 4));
      }
    } catch (error) {
      const isReplaced = isConnected && (hasBroken || outageOf(error) === 'no answer') && !(error instanceof NoAnswer);
      if (!isReplaced) throw error;
    } finally {
      // A frozen server does not answer the closing message either.
      client.connection.stream.destroy();
    }
  }

  async #findState(url: string, ask: <Row>(text: string) => Promise<Row | undefined>): Promise<void> {
    if (!this.#lacksRoom) {
      await ask('SELECT');
      await this.#cutLost(ask);
      return this.#showRoom();
    }
    try {
      const found = await ask<{ isWritable: boolean }>(IS_WRITABLE);
      if (this.#hosts.count > 1) this.#refuseReadOnly(url, found);
      if (found?.isWritable === true) {
        await ask(LOOK_FOR_ROOM);
        this.#lacksRoom = false;
      }
      this.#showRoom();
    } catch (error) {
      if (outageOf(error) === 'no answer' || error instanceof NoAnswer || error instanceof ReadOnlyServerError)
        throw error;
      // Another error, such as that of a limit on temporary files, does not show whether the disk is full, so it ends
      // the state `no room`. If the disk is full, the next refused statement sets the state again.
      this.#lacksRoom = outageOf(error) === 'no room';
      this.#showRoom(error);
    }
  }

  /**
   * Reads `#lacksRoom` again, because a statement of the process may have been refused for want of room while the pulse
   * waited for its own answer.
   */
  #showRoom(cause?: unknown): void {
    if (this.#lacksRoom) this.#change('no room', cause);
    else this.#change('well');
  }

  async #cutLost(ask: <Row>(text: string) => Promise<Row | undefined>): Promise<void> {
    for (const connections of this.#suspects) {
      const asked = connections.waiting();
      if (asked.length === 0) continue;
      const busy = await ask<{ pids: number[] }>(`
        SELECT coalesce(array_agg(pid), '{}') AS pids FROM pg_stat_activity
        WHERE pid IN (${asked.join(', ')}) AND coalesce(state, '') NOT LIKE 'idle%'`);
      connections.cutIfOver(asked, busy!.pids);
    }
  }

  /** Throws if the host takes no writes: another one may. */
  #refuseReadOnly(url: string, found: { isWritable: boolean } | undefined): void {
    if (found?.isWritable === true) return;
    this.#hosts.refuse(url);
    throw new ReadOnlyServerError();
  }

  #change(state: DatabaseState, cause?: unknown): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onChange(state, cause);
    for (const watcher of this.#watchers) watcher();
  }

  /**
   * Rejects after `ANSWER_WITHIN_MS` without an answer to any statement of this process: if PostgreSQL answers others,
   * it is only busy. Time in which this process was blocked does not count, because it could not read an answer.
   */
  async #within<T>(work: Promise<T>): Promise<T> {
    let [silentMs, answered] = [0, this.#answered];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setInterval(() => {
        silentMs = answered === this.#answered ? silentMs + TICK_MS : 0;
        answered = this.#answered;
        if (silentMs >= ANSWER_WITHIN_MS)
          reject(new NoAnswer(`PostgreSQL has not answered for ${ANSWER_WITHIN_MS} ms.`));
      }, TICK_MS);
    });
    // The connection is destroyed after the limit, which rejects the work, too.
    work.catch(() => undefined);
    try {
      return await Promise.race([work, late]);
    } finally {
      clearInterval(timer);
    }
  }

  async #pause(durationMs: number): Promise<void> {
    this.#wake = new AbortController();
    const signal = AbortSignal.any([this.#wake.signal, this.#stopped.signal]);
    await sleep(durationMs, signal);
  }
}

class NoAnswer extends Error {
  override name = 'NoAnswer';
}

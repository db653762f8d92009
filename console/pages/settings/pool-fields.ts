// Converts the pools of a project to the fields of their form, and these to the body of a request.

interface PoolFields {
  /** Empty for the pool `default`. */
  pool: string;
  /** The names of the other pools, separated by commas or white space. */
  others: string;
}

interface PoolBody {
  pool?: string | null;
  pools?: string[];
}

export function toPoolFields({ pool, pools }: { pool: string | null; pools: readonly string[] }): PoolFields {
  return { pool: pool ?? '', others: pools.join(', ') };
}

/** Returns only changed fields, because somebody else may have changed the other one in the meantime. */
export function toPoolBody(before: PoolFields, now: PoolFields): PoolBody {
  const [pool, pools] = [now.pool.trim(), namesIn(now.others)];
  return {
    ...(pool !== before.pool && { pool: pool === '' ? null : pool }),
    ...(pools.join() !== namesIn(before.others).join() && { pools }),
  };
}

function namesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}

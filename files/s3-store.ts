import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { MARK, MissingBytesError, type FileStore } from './file-store.js';

export interface S3Settings {
  bucket: string;
  /** Defaults to the endpoint of AWS in the region. */
  endpoint: string | undefined;
  region: string;
}

/** An upload sends its parts one after another. S3 accepts no part smaller than 5 MiB, except the last. */
const PART_BYTES = 5 * 1024 * 1024;

/** The limits on requests, because the SDK's defaults wait forever. */
interface S3Limits {
  /** The number of attempts of a request if S3 is busy, fails, or does not answer. The SDK pauses between them. */
  attempts: number;
  connectMs: number;
  /** The limit from the start of a request, including the upload of a part, to the head of its answer. */
  answerMs: number;
  /**
   * The limit on the time without a byte in either direction. An HTTP node that forwards a file may stop reading the
   * file until the node's time limit of at most 300 s ends.
   */
  silenceMs: number;
}

const LIMITS: S3Limits = { attempts: 3, connectMs: 5_000, answerMs: 60_000, silenceMs: 360_000 };

/** Covers the pauses between the attempts of a request. */
const LATE_MARGIN_MS = 60_000;

/** The errors if the mark exists or another process is writing it. That process may fail, so this one tries again. */
const FIRST_WRITE_ELSEWHERE = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);
const MARK_TRIES = 5;
const MARK_PAUSE_MS = 200;

/** Stores files as objects of a bucket. The SDK finds the credentials in its usual places. */
export function createS3Store({ bucket, endpoint, region }: S3Settings, limits: S3Limits = LIMITS): FileStore {
  const client = new S3Client({
    region,
    maxAttempts: limits.attempts,
    requestHandler: {
      connectionTimeout: limits.connectMs,
      requestTimeout: limits.answerMs,
      throwOnRequestTimeout: true,
      socketTimeout: limits.silenceMs,
      // The number of sockets is unlimited: a request that waited for a free one would spend its time limit on the
      // slow reader of another request.
      httpAgent: { maxSockets: Infinity },
      httpsAgent: { maxSockets: Infinity },
    },
    // Some servers never permit sending a part, and the SDK would wait for that as long as for the answer.
    expectContinueHeader: false,
    // Servers other than AWS have their buckets in the path.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    // Our sealing authenticates the chunks, and not all servers other than AWS support the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const at = (name: string) => ({ Bucket: bucket, Key: name });
  return {
    // The SDK holds the chunks of a part, the buffer into which they are copied to be sent, and the buffer of the part
    // before, whose rest belongs to this part.
    bufferBytes: 3 * PART_BYTES,
    // The SDK aborts no request that it has sent, and repeats requests without an answer.
    lateMs: limits.attempts * (limits.connectMs + limits.answerMs) + LATE_MARGIN_MS,
    async write(name, bytes, signal) {
      const params = { ...at(name), Body: Readable.from(bytes, { objectMode: false }) };
      const upload = new Upload({ client, params, queueSize: 1, partSize: PART_BYTES });
      const abort = (): void => void upload.abort();
      signal?.throwIfAborted();
      signal?.addEventListener('abort', abort, { once: true });
      try {
        await upload.done();
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
    async read(name, { start, end }, signal) {
      const command = new GetObjectCommand({ ...at(name), Range: `bytes=${start}-${end - 1}` });
      const { Body } = await client
        .send(command, { ...(signal && { abortSignal: signal }) })
        .catch((error: unknown) => {
          throw error instanceof NoSuchKey ? new MissingBytesError(name) : error;
        });
      return Body as Readable;
    },
    async remove(name) {
      await client.send(new DeleteObjectCommand(at(name)));
      // A process that died during an upload has left its parts.
      const { Uploads: uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: name }));
      for (const { Key: key, UploadId: id } of uploads ?? []) {
        if (key === name && id !== undefined) {
          await client.send(new AbortMultipartUploadCommand({ ...at(name), UploadId: id }));
        }
      }
    },
    async markedAs(mark) {
      for (let tries = 1; ; tries += 1) {
        const known = await readMark();
        if (known !== undefined) return known;
        try {
          await client.send(new PutObjectCommand({ ...at(MARK), Body: mark, IfNoneMatch: '*' }));
          return (await readMark()) ?? mark;
        } catch (error) {
          if (tries === MARK_TRIES || !FIRST_WRITE_ELSEWHERE.has((error as Error).name)) throw error;
          await pause(MARK_PAUSE_MS);
        }
      }
    },
  };

  async function readMark(): Promise<string | undefined> {
    const found = await client.send(new GetObjectCommand(at(MARK))).catch((error: unknown) => {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    });
    return found?.Body?.transformToString();
  }
}

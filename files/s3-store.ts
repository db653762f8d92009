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
import { MARK, MissingBytesError, type FileStore } from './file-store.js';

export interface S3Settings {
  bucket: string;
  /** Without one, that of AWS in the region. */
  endpoint: string | undefined;
  region: string;
}

/** One part of each upload is in memory at a time. S3 takes no part that is smaller than 5 MiB, apart from the last. */
const PART_BYTES = 5 * 1024 * 1024;

/** How often a request is made and how long it may take: the SDK waits for ever where nothing is said. */
interface S3Limits {
  /** A request is made so often in all where S3 is busy, fails, or does not answer. The SDK pauses in between. */
  attempts: number;
  connectMs: number;
  /** From the beginning of a request, with a part to write, to the head of its answer. */
  answerMs: number;
  /** Without a byte in either direction. An HTTP node, which sends a file on, may pause for 300 s. */
  silenceMs: number;
}

const LIMITS: S3Limits = { attempts: 3, connectMs: 5_000, answerMs: 60_000, silenceMs: 360_000 };

/** Keeps files as objects of a bucket. The SDK finds the credentials, as in all its programs. */
export function createS3Store({ bucket, endpoint, region }: S3Settings, limits: S3Limits = LIMITS): FileStore {
  const client = new S3Client({
    region,
    maxAttempts: limits.attempts,
    requestHandler: {
      connectionTimeout: limits.connectMs,
      requestTimeout: limits.answerMs,
      throwOnRequestTimeout: true,
      socketTimeout: limits.silenceMs,
      // A request that waited for the connection of another one would lose its time to that one's reader.
      httpAgent: { maxSockets: Infinity },
      httpsAgent: { maxSockets: Infinity },
    },
    // The SDK would wait as long for the word to send a part as for the answer to it, and some servers never say it.
    expectContinueHeader: false,
    // A server that is no AWS has its buckets in the path.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    // The chunks are authenticated by us, and servers other than AWS do not all know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const at = (name: string) => ({ Bucket: bucket, Key: name });
  return {
    // A part is put together from pieces, and sent.
    bufferBytes: 2 * PART_BYTES,
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
      // A process that died amid an upload has left its parts.
      const { Uploads: uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: name }));
      for (const { Key: key, UploadId: id } of uploads ?? []) {
        if (key === name && id !== undefined) {
          await client.send(new AbortMultipartUploadCommand({ ...at(name), UploadId: id }));
        }
      }
    },
    async markedAs(mark) {
      const known = await readMark();
      if (known !== undefined) return known;
      await client.send(new PutObjectCommand({ ...at(MARK), Body: mark, IfNoneMatch: '*' })).catch((error: unknown) => {
        if ((error as { name?: string }).name !== 'PreconditionFailed') throw error;
      });
      return (await readMark()) ?? mark;
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

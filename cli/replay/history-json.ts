// Converts histories from and to Temporal's JSON, the form of `temporal workflow show --output json`.
import { createRequire } from 'node:module';
import type { History } from '@temporalio/common/lib/proto-utils.js';

export type { History };

interface ProtoJson {
  fromJson: (type: object, json: unknown, options: { ignoreUnknownFields: boolean }) => History;
  toJson: (type: object, message: History) => unknown;
}

interface ProtoRoot {
  lookupType: (name: string) => { fromObject: (message: object) => History };
}

// The SDK's own historyFromJSON and historyToJSON ("@temporalio/common/lib/proto-utils") throw "type must be a Type"
// where npm has installed a separate protobufjs for @temporalio/common and for @temporalio/proto, as it does here. With
// the copy that created the types, the same two calls work in any layout.
const fromCommon = createRequire(createRequire(import.meta.url).resolve('@temporalio/common'));
const fromProto = createRequire(fromCommon.resolve('@temporalio/proto'));
const protoJson = fromProto('protobufjs/ext/protojson') as ProtoJson;
const { patchProtobufRoot } = fromCommon('@temporalio/proto/lib/patch-protobuf-root') as {
  patchProtobufRoot: (root: unknown) => ProtoRoot;
};
const historyType = patchProtobufRoot(fromCommon('@temporalio/proto')).lookupType('temporal.api.history.v1.History');

/** Throws for what is not a history. Fields of a newer server are dropped. */
export function parseHistory(json: unknown): History {
  return protoJson.fromJson(historyType, json, { ignoreUnknownFields: true });
}

export function historyToJson(history: History): { events: Record<string, unknown>[] } {
  return protoJson.toJson(historyType, historyType.fromObject(history)) as { events: Record<string, unknown>[] };
}

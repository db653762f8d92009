// With TEMPORAL_PAYLOAD_KEY: messages and stacks of failures become payloads, so that they are encrypted like all others.
import { DefaultFailureConverter } from '@temporalio/common';

/** Loaded by the SDK, by this name. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });

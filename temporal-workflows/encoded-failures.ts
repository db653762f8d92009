// Used with `TEMPORAL_PAYLOAD_KEY`: encodes messages and stacks of failures as payloads, so that they are encrypted
// like all other payloads.
import { DefaultFailureConverter } from '@temporalio/common';

/** The SDK loads this export by name. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });

import { useMutation } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import { queryClient, useRunKey } from '../../service/queries.js';
import { FileField } from '../../files/file-field.js';
import { filesOfText, UPLOADING } from '../../service/file-value.js';
import { Button } from '../../ui/button.js';
import { Alert, announce } from '../../ui/notices.js';
import { isWriting } from '../../ui/writing.js';
import { explainRefusal, sendMessage } from './chat-calls.js';
import type { Anew } from './messages.js';

interface ComposerProps {
  /** Key under which the unsent message is stored (`DRAFTS`): the conversation's id, if there is one. */
  draftKey: string;
  projectId: number;
  /** Resolves to the id of the conversation; undefined if the message cannot be sent, and the page shows why. */
  conversation: () => Promise<string | undefined>;
  anew: Anew | undefined;
  onAnew: (anew: Anew | undefined) => void;
  onSent: (conversationId: string) => Promise<void>;
  takesNoFiles?: boolean | undefined;
  /** True while something outside the composer prevents sending, such as a missing input. */
  isBlocked?: boolean;
  /** Each new number gives the field the focus as if it had just appeared. */
  presses?: number | undefined;
  /** Cancels the current answer; undefined if there is none. */
  stop: { isBusy: boolean; act: () => void } | undefined;
}

const MOST_CHARACTERS = 262_144;

/** An unsent message. `files` is the JSON of the selected files, `UPLOADING`, or empty. */
interface Draft {
  text: string;
  files: string;
}

const EMPTY: Draft = { text: '', files: '' };

// A draft of a message outlasts a change to another page of the console, but no reload. It is in the query cache, which
// is cleared on signing out.
const DRAFTS = 'chat-drafts';
queryClient.setQueryDefaults([DRAFTS], { gcTime: Infinity });

function readDraft(draftKey: string): Draft {
  return queryClient.getQueryData<Draft>([DRAFTS, draftKey]) ?? EMPTY;
}

function storeDraft(draftKey: string, { text, files }: Draft): void {
  // An upload is aborted when the field unmounts. The field then reports the files without it.
  const kept = files === UPLOADING ? readDraft(draftKey).files : files;
  queryClient.setQueryData([DRAFTS, draftKey], { text, files: kept });
}

/**
 * Returns what a person added while the message `sent` was being sent: the text behind the sent one. A text that no
 * longer begins with the sent one, and files that are no longer the sent ones, are returned whole.
 */
function withoutSent({ text, files }: Draft, sent: Draft): Draft {
  return {
    text: text.startsWith(sent.text) ? text.slice(sent.text.length).trimStart() : text,
    files: files === sent.files ? '' : files,
  };
}

/** Returns the draft from before an earlier message was asked anew, followed by what was added since. */
function joined(draft: Draft, added: Draft): Draft {
  const texts = [draft.text, added.text].filter((text) => text !== '');
  return { text: texts.join('\n'), files: added.files === '' ? draft.files : added.files };
}

/**
 * The field for the next message. When it appears on a device with a mouse or touchpad, it takes the focus, unless the
 * person is typing elsewhere. Enter sends the message, Shift+Enter inserts a line break.
 */
export function Composer({
  draftKey,
  projectId,
  conversation,
  anew,
  onAnew,
  onSent,
  takesNoFiles = false,
  isBlocked = false,
  presses,
  stop,
}: ComposerProps) {
  /** `round` is the React key of the file field. A new number remounts the field, which then has the draft's files. */
  const [{ text, files, round }, setShown] = useState(() => ({ ...readDraft(draftKey), round: 0 }));
  const [lastAnew, setLastAnew] = useState<Anew>();
  const field = useRef<HTMLTextAreaElement>(null);
  const { keyOf, settle, settleIfRefused } = useRunKey();
  const showDraft = (draft: Draft): void => setShown({ ...draft, round: round + 1 });
  if (anew !== lastAnew) {
    setLastAnew(anew);
    if (anew !== undefined) {
      showDraft({ text: anew.content, files: anew.files.length === 0 ? '' : JSON.stringify(anew.files) });
    }
  }
  useEffect(() => {
    // The chat preview of the editor appears after a request, when the person may be typing in a form already. A press
    // of the button for a new conversation asks for the field.
    if (!presses && isWriting(document.activeElement)) return;
    // On a phone, the focus would open the keyboard over the messages.
    if (matchMedia('(pointer: fine)').matches) field.current?.focus({ preventScroll: true });
  }, [presses]);
  useEffect(() => {
    if (anew !== undefined) field.current?.focus();
  }, [anew]);
  // Editing a message to ask again must not overwrite the draft.
  const isDraft = anew === undefined;
  const latestRound = useRef(round);
  useLayoutEffect(() => {
    latestRound.current = round;
  }, [round]);
  /**
   * Takes the files of the field `ofRound`. When a file field unmounts, it reports once more, without the files that
   * were uploading. If the composer unmounts, too, only the stored draft takes this report. If another field has
   * replaced the file field, the report does not count.
   */
  const choose = (ofRound: number, chosen: string): void => {
    if (latestRound.current !== ofRound) return;
    if (isDraft && chosen !== UPLOADING) storeDraft(draftKey, { ...readDraft(draftKey), files: chosen });
    setShown((draft) => ({ ...draft, files: chosen }));
  };
  useEffect(() => {
    if (isDraft) storeDraft(draftKey, { text, files });
  }, [isDraft, draftKey, text, files]);
  const sending = useMutation({
    mutationFn: async (sent: Draft) => {
      const id = await conversation();
      if (id === undefined) return undefined;
      const saying = { content: sent.text, files: filesOfText(sent.files), replaces: anew?.replaces };
      await sendMessage(id, saying, keyOf([id, saying]));
      return id;
    },
    onSuccess: async (id, sent) => {
      if (id === undefined) return;
      settle();
      announce('The message is sent.');
      const rest = withoutSent({ text, files }, sent);
      const next = anew === undefined ? rest : joined(readDraft(draftKey), rest);
      // If this message started the conversation, the draft moves to the key of the conversation.
      storeDraft(draftKey, EMPTY);
      storeDraft(id, next);
      setShown({ ...(draftKey === id ? next : EMPTY), round: files === sent.files ? round + 1 : round });
      onAnew(undefined);
      await onSent(id);
    },
    onError: settleIfRefused,
  });
  const isUploading = files === UPLOADING;
  const isEmpty = text.trim() === '' && files === '';
  const send = (): void => {
    if (!sending.isPending && !isEmpty && !isUploading && !isBlocked) sending.mutate({ text, files });
  };
  const press = (event: KeyboardEvent): void => {
    // Enter during a composition accepts the composed characters instead.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="chat-composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {anew !== undefined && (
        <div className="chat-anew">
          <p>Sending asks this message anew, and leaves the earlier one and what follows it aside.</p>
          <Button
            onClick={() => {
              onAnew(undefined);
              showDraft(readDraft(draftKey));
            }}
          >
            Cancel
          </Button>
        </div>
      )}
      {sending.isError && <Alert onRetry={send}>{explainRefusal(sending.error)}</Alert>}
      <textarea
        ref={field}
        className="control chat-field"
        aria-label="Message"
        placeholder="Write a message"
        rows={1}
        maxLength={MOST_CHARACTERS}
        value={text}
        onChange={({ target }) => setShown((draft) => ({ ...draft, text: target.value }))}
        onKeyDown={press}
      />
      <div className="chat-tools">
        {!takesNoFiles && (
          <FileField
            key={round}
            label="Files"
            projectId={projectId}
            isMany
            value={files}
            onChange={(chosen) => choose(round, chosen)}
          />
        )}
        <div className="chat-buttons">
          {stop !== undefined && (
            <Button isBusy={stop.isBusy} onClick={stop.act}>
              Stop
            </Button>
          )}
          <Button
            type="submit"
            variant="primary"
            isBusy={sending.isPending}
            disabled={isEmpty || isUploading || isBlocked}
          >
            Send
          </Button>
        </div>
      </div>
    </form>
  );
}

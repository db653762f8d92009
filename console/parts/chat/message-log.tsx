import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useLayoutEffect, useMemo, useState, type ReactNode } from 'react';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { queryClient } from '../../service/queries.js';
import { readRunWord } from '../../live/run-cache.js';
import { Button } from '../../ui/button.js';
import { Note } from '../../ui/notices.js';
import { cancelRun, readOlder, useMessages, useReadAgain } from './chat-calls.js';
import type { ChatWorkflow } from './chat-workflow.js';
import { Composer } from './composer.js';
import { ShownExchange } from './exchange.js';
import { firstLoaded, openOf, runToStop, streamedOf, toExchanges, type Anew, type Exchange } from './messages.js';
import { useEndOfLog } from './end-of-log.js';
import './chat.css';

const NONE: readonly Exchange[] = [];

interface MessagesProps {
  workflow: ChatWorkflow;
  id: string;
  title: string;
  /** True if the person started the conversation. */
  isOwn: boolean;
  /** Called before a message is sent. Resolves to false if it cannot be sent; the page then shows why. */
  prepare?: (() => Promise<boolean>) | undefined;
  /** Resolves to the conversation of the next message; by default it is this one. */
  begin?: () => Promise<string>;
  /** Shown above the field for the message. */
  above?: ReactNode;
  /** A hint about the first message. */
  note?: string;
  isBlocked?: boolean;
}

export function Messages({
  workflow,
  id,
  title,
  isOwn,
  prepare,
  begin = () => Promise.resolve(id),
  above,
  note = 'Write the first message.',
  isBlocked = false,
}: MessagesProps) {
  const query = useMessages(id);
  const readAgain = useReadAgain(id);
  const exchanges = useMemo(() => (query.data === undefined ? NONE : toExchanges(query.data)), [query.data]);
  const [anew, setAnew] = useState<Anew>();
  const { watch, isAtEnd, goToEnd, holdPlace, settlePlace } = useEndOfLog();
  const open = openOf(exchanges);
  const openIds = open.map(({ runId }) => runId);
  const followed = new Set(streamedOf(exchanges));
  const mayWrite = workflow.mayWrite && isOwn;
  useTitleOfFirst(title, exchanges.length);
  const first = query.data && firstLoaded(query.data);
  const older = useMutation({ mutationFn: () => readOlder(id), onMutate: () => holdPlace(first) });
  const settle = useEffectEvent(settlePlace);
  useLayoutEffect(() => settle(first), [first]);
  const stopping = useMutation({
    mutationFn: (runId: string) => cancelRun(workflow.id, runId),
    onSettled: readAgain,
  });
  const stop = (): void => {
    const runId = runToStop(open, (each) => (followed.has(each) ? readRunWord(each) : undefined));
    if (runId !== undefined) stopping.mutate(runId);
  };
  return (
    <>
      {/* Focusable, so that keyboard users can scroll it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="chat-log" role="log" aria-label="Messages" tabIndex={0} ref={watch}>
        <div className="chat-log-inner">
          <QueryPlaceholder {...query} />
          {first !== undefined && first > 1 && (
            <Button isBusy={older.isPending} onClick={() => older.mutate()}>
              Show earlier messages
            </Button>
          )}
          <Problem error={older.error} />
          {query.data !== undefined && exchanges.length === 0 && (
            <p className="chat-note">{mayWrite ? note : 'Nothing was said yet.'}</p>
          )}
          {exchanges.map((exchange) => (
            <ShownExchange
              key={exchange.runId}
              {...{ workflow, exchange, followed, mayWrite }}
              open={openIds}
              onChanged={readAgain}
              onAnew={setAnew}
            />
          ))}
        </div>
      </div>
      {!isAtEnd && (
        <div className="chat-to-end">
          <Button onClick={goToEnd}>To the end</Button>
        </div>
      )}
      <div className="chat-foot">
        <Problem error={stopping.error} />
        {above}
        {mayWrite ? (
          <Composer
            draftKey={id}
            projectId={workflow.projectId}
            conversation={async () => (prepare === undefined || (await prepare()) ? begin() : undefined)}
            takesNoFiles={workflow.takesNoFiles}
            isBlocked={isBlocked}
            anew={anew}
            onAnew={setAnew}
            onSent={async () => {
              goToEnd();
              await readAgain();
            }}
            stop={open.length === 0 ? undefined : { isBusy: stopping.isPending, act: stop }}
          />
        ) : (
          <Note>
            {isOwn
              ? 'Your role in this project, viewer, lets you read. Editors, admins and owners write.'
              : 'Only the person who has begun this conversation writes in it.'}
          </Note>
        )}
      </div>
    </>
  );
}

/** Reloads the conversations after the first message, which becomes the title. */
function useTitleOfFirst(title: string, count: number): void {
  const isMissing = title === '' && count > 0;
  useEffect(() => {
    if (isMissing) void queryClient.invalidateQueries({ queryKey: ['conversations'] });
  }, [isMissing]);
}

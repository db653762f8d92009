import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useEditor, useStore } from '../../../drawing/editor-store.js';
import { useNodeEntry, useNodeWords } from '../../../live/run-cache.js';
import { deleteConversation, useMessages } from '../../../parts/chat/chat-calls.js';
import type { ChatWorkflow } from '../../../parts/chat/chat-workflow.js';
import { FirstMessage } from '../../../parts/chat/first-message.js';
import { Messages } from '../../../parts/chat/message-log.js';
import { streamedOf, toExchanges } from '../../../parts/chat/messages.js';
import { modelsQuery } from '../../../service/models.js';
import { ConfirmDelete } from '../../../service/confirm-change.js';
import { QueryPlaceholder } from '../../../service/problem.js';
import { queryClient } from '../../../service/queries.js';
import { Button } from '../../../ui/button.js';
import { Money } from '../../../ui/figures.js';
import { announce } from '../../../ui/notices.js';
import { useStored } from '../../../ui/store.js';
import type { DraftKeeper } from '../draft-keeper.js';
import { ModelField } from '../model-field.js';
import type { Saver } from '../saver.js';
import { SideChat } from '../side-chat.js';
import './assistant.css';
import { assistantQuery, chooseModel, type Assistant } from './assistant-calls.js';

/** The id of the node that answers in the built-in drawing (graph/building/assistant-drawing.ts). */
const ANSWERING = 'assistant';

interface AssistantPanelProps {
  saver: Saver;
  keeper: DraftKeeper;
  onClose: () => void;
}

/** A conversation with a model that changes the person's unsaved drawing on the canvas. */
export function AssistantPanel({ saver, keeper, onClose }: AssistantPanelProps) {
  const { id } = useStored(saver, (state) => state.workflow);
  const query = useQuery(assistantQuery(id));
  const store = useStore();
  const [isAsking, setIsAsking] = useState(false);
  const conversation = query.data?.conversation ?? undefined;
  return (
    <SideChat
      name="Assistant"
      onNew={conversation === undefined ? undefined : () => setIsAsking(true)}
      onClose={onClose}
      hint={
        <p className="side-chat-hint">
          <span>It changes your unsaved drawing. You save.</span>
          {conversation !== undefined && (
            <span className="assistant-cost">
              Cost <Money amount={query.data!.cost} />
            </span>
          )}
        </p>
      }
    >
      {isAsking && conversation !== undefined && (
        <ConfirmDelete
          noun="conversation"
          remove={async () => {
            await deleteConversation(conversation);
            store.forgetAnswer();
          }}
          invalidates={['assistant']}
          onClose={() => setIsAsking(false)}
        >
          Its messages are gone for good, and what is being answered is cancelled. The drawing stays as it is.
        </ConfirmDelete>
      )}
      {query.data === undefined ? (
        <div className="chat-log">
          <QueryPlaceholder {...query} />
        </div>
      ) : (
        <Conversation key={conversation} saver={saver} keeper={keeper} assistant={query.data} />
      )}
    </SideChat>
  );
}

interface ConversationProps {
  saver: Saver;
  keeper: DraftKeeper;
  assistant: Assistant;
}

function Conversation({ saver, keeper, assistant }: ConversationProps) {
  const store = useStore();
  const { id, title, project: projectId } = useStored(saver, (state) => state.workflow);
  const { data: models = [] } = useQuery(modelsQuery);
  const [chosen, setChosen] = useState<string>();
  const model = chosen ?? assistant.model ?? models[0]?.id ?? '';
  const [isHeld, setIsHeld] = useState(false);
  const workflow = useMemo(
    (): ChatWorkflow => ({ id, title, projectId, mayWrite: true, fields: [], agents: [ANSWERING], takesNoFiles: true }),
    [id, title, projectId],
  );
  /** The assistant reads the draft, so the draft must have what the editor shows. */
  const prepare = async (): Promise<boolean> => {
    const isHandedOver = await keeper.handOver();
    setIsHeld(!isHandedOver);
    if (isHandedOver) store.forgetAnswer();
    return isHandedOver;
  };
  const begin = async (): Promise<string> => {
    const { conversation, model: known } = assistant;
    if (conversation !== null && known === model) return conversation;
    return (await chooseModel(id, model)).conversation!;
  };
  const above = (
    <div className="assistant-above">
      {isHeld && <p role="alert">There is unsaved work of another place. Continue or discard it first.</p>}
      <UndoAnswer />
      <ModelField
        schema={NO_SCHEMA}
        path={MODEL_PATH}
        label="Model"
        value={model}
        onChange={(_path, value) => setChosen(typeof value === 'string' ? value : '')}
      />
    </div>
  );
  const isBlocked = model.trim() === '';
  const shared = { workflow, prepare, begin, above, isBlocked };
  if (assistant.conversation === null) {
    const read = (): void => void queryClient.invalidateQueries({ queryKey: assistantQuery(id).queryKey });
    return <FirstMessage {...shared} draftKey={`assistant-${id}`} note={FIRST} onBegun={read} />;
  }
  return (
    <>
      <Follow workflowId={id} conversation={assistant.conversation} keeper={keeper} />
      <Messages {...shared} id={assistant.conversation} title={title} isOwn note={FIRST} />
    </>
  );
}

const NO_SCHEMA = {};
const MODEL_PATH = ['model'];
const FIRST = 'Say what the workflow should do, or what to change.';

/** Offers to undo the changes of the newest answer. */
function UndoAnswer() {
  const store = useStore();
  const count = useEditor((state) => state.answer?.nodes.size);
  const hasChanged = useEditor((state) => state.answer !== undefined && state.answer.before !== state.answer.after);
  if (!hasChanged) return null;
  const undo = (): void => {
    store.undoAnswer();
    announce('The changes of the answer are undone.');
  };
  return (
    <div className="assistant-undo">
      <span>
        {count === 0
          ? 'The drawing was changed.'
          : count === 1
            ? '1 node was changed.'
            : `${count} nodes were changed.`}
      </span>
      <Button onClick={undo}>Undo these changes</Button>
    </div>
  );
}

interface FollowProps {
  workflowId: number;
  keeper: DraftKeeper;
}

/** Shows the assistant's changes on the canvas: after each of its steps, and when an answer is complete. */
function Follow({ conversation, ...props }: FollowProps & { conversation: string }) {
  const { data } = useMessages(conversation);
  const runs = data === undefined ? [] : streamedOf(toExchanges(data));
  useFollow(props, [data === undefined, ...runs].join(), runs.length === 0);
  return runs.map((runId) => <FollowRun key={runId} {...props} runId={runId} />);
}

function FollowRun({ runId, ...props }: FollowProps & { runId: string }) {
  const entry = useNodeEntry(runId, ANSWERING);
  const words = useNodeWords(runId, ANSWERING);
  useFollow(props, [runId, entry?.status, words?.attempt, words?.step].join());
  return null;
}

const FOLLOW_AGAIN_MS = 10_000;

/** Reads the draft whenever `news` changes. Once all answers are complete, reads the cost of the conversation, too. */
function useFollow({ workflowId, keeper }: FollowProps, news: string, areComplete = false): void {
  useQuery({
    queryKey: ['assistant-follow', workflowId, news],
    queryFn: async () => {
      if (areComplete) void queryClient.invalidateQueries({ queryKey: assistantQuery(workflowId).queryKey });
      await keeper.follow();
      return true;
    },
    staleTime: Infinity,
    gcTime: 0,
    // A failed request is repeated, because there may be no later step, which would start another request.
    refetchInterval: ({ state }) => (state.status === 'error' ? FOLLOW_AGAIN_MS : false),
  });
}

import { useMemo, useState } from 'react';
import { Messages } from '../../parts/chat/message-log.js';
import { readDrawing } from '../../parts/chat/chat-workflow.js';
import { FirstMessage } from '../../parts/chat/first-message.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { ButtonLink } from '../../ui/button.js';
import { Loading } from '../../ui/notices.js';
import { useStored } from '../../ui/store.js';
import type { Saver } from './saver.js';
import { SideChat } from './side-chat.js';

interface ChatPreviewProps {
  saver: Saver;
  onClose: () => void;
}

/** A chat with the workflow beside its canvas. Messages run the stored drawing, so each one saves the drawing first. */
export function ChatPreview({ saver, onClose }: ChatPreviewProps) {
  const store = useStore();
  const { id, title, project: projectId, is_chat: isChat } = useStored(saver, (state) => state.workflow);
  const drawing = useEditor(({ history }) => history.present);
  const isDirty = useEditor((state) => state.isDirty);
  const workflow = useMemo(
    () => ({ id, title, projectId, mayWrite: true, ...readDrawing(drawing, store.kinds) }),
    [id, title, projectId, drawing, store.kinds],
  );
  const [conversation, setConversation] = useState<string>();
  const save = async (): Promise<boolean> => {
    const isSaved = await saver.save();
    const { error } = saver.getState();
    if (error !== undefined) throw error;
    // If the drawing is not saved, the conflict dialog is open.
    return isSaved;
  };
  return (
    <SideChat
      name="Chat preview"
      onNew={conversation === undefined ? undefined : () => setConversation(undefined)}
      onClose={onClose}
      hint={
        <p className="side-chat-hint">
          {isDirty ? 'A message saves your changes first.' : 'Messages are runs of the saved drawing.'}{' '}
          <ButtonLink to={`/workflows/${id}/chat${conversation === undefined ? '' : `/${conversation}`}`}>
            Open the chat
          </ButtonLink>
        </p>
      }
    >
      {!isChat ? (
        <Loading />
      ) : conversation === undefined ? (
        <FirstMessage workflow={workflow} prepare={save} onBegun={setConversation} />
      ) : (
        <Messages key={conversation} workflow={workflow} id={conversation} title={title} isOwn prepare={save} />
      )}
    </SideChat>
  );
}

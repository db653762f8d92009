import { Dialog } from '../../ui/dialog.js';
import { Gallery } from './gallery.js';
import type { Sample } from './sample.js';

interface GalleryDialogProps {
  onUse: (sample: Sample) => void;
  onClose: () => void;
}

export function GalleryDialog({ onUse, onClose }: GalleryDialogProps) {
  return (
    <Dialog title="Gallery" isWide onClose={onClose}>
      <Gallery onUse={onUse} />
    </Dialog>
  );
}

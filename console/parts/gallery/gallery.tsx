import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Note } from '../../ui/notices.js';
import { SearchField } from '../../ui/fields.js';
import { modelsQuery } from '../../service/models.js';
import './gallery.css';
import { SampleCard } from './sample-card.js';
import { forService, matches, type Sample } from './sample.js';
import { SAMPLES } from './samples.js';

interface GalleryProps {
  /** Called with a sample whose `drawing` names the service's model if there is only one, else no model. */
  onUse: (sample: Sample) => void;
  /** The name of the chosen sample; undefined if the button `Use` acts at once instead of choosing. */
  chosen?: string | undefined;
}

/** All samples as cards, with a search. */
export function Gallery({ onUse, chosen }: GalleryProps) {
  const [words, setWords] = useState('');
  const toService = useForService();
  const found = SAMPLES.filter((sample) => matches(sample, words));
  return (
    <>
      <SearchField label="Search gallery" value={words} onChange={setWords} />
      {found.length === 0 && <Note>No workflow of the gallery is like this.</Note>}
      <ul className="samples" aria-label="Gallery">
        {found.map((sample) => (
          <li key={sample.name}>
            <SampleCard
              sample={sample}
              onUse={() => onUse(toService(sample))}
              isChosen={chosen === undefined ? undefined : chosen === sample.name}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Names of the samples for an empty canvas. */
const FIRST = ['summarise-page', 'event-to-chat', 'ask-a-document'];

/** A few samples for an empty canvas. */
export function FirstSamples({ onUse }: Pick<GalleryProps, 'onUse'>) {
  const toService = useForService();
  const samples = FIRST.flatMap((name) => SAMPLES.find((sample) => sample.name === name) ?? []);
  return (
    <ul className="samples samples-first" aria-label="Samples">
      {samples.map((sample) => (
        <li key={sample.name}>
          <SampleCard sample={sample} onUse={() => onUse(toService(sample))} />
        </li>
      ))}
    </ul>
  );
}

function useForService(): (sample: Sample) => Sample {
  const { data: models = [] } = useQuery(modelsQuery);
  const [only, other] = models;
  const model = other === undefined ? only?.id : undefined;
  return (sample) => ({ ...sample, drawing: forService(sample.drawing, model) });
}

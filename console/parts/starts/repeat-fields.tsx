import { useState } from 'react';
import { SelectField, TextField } from '../../ui/fields.js';
import { inWords } from './schedule-data.js';
import { DAYS, isNumber, MINUTES, ofCron, REPEATS, toCron, type Repeat } from './repeats.js';

const LABELS: Readonly<Record<Repeat['kind'], string>> = {
  minutes: 'Every few minutes',
  hour: 'Every hour',
  day: 'Every day',
  week: 'On days of the week',
  month: 'Every month',
  cron: 'By a cron expression',
};

const KINDS = REPEATS.map((value) => ({ value, label: LABELS[value] }));

interface RepeatFieldsProps {
  cron: string;
  onChange: (cron: string) => void;
  error: string | undefined;
}

/** Edits when a schedule fires. Choices write the cron expression below them, which can also be edited directly. */
export function RepeatFields({ cron, onChange, error }: RepeatFieldsProps) {
  const [repeat, setRepeat] = useState(() => ofCron(cron));
  const set = (change: Partial<Repeat>): void => {
    const next = { ...repeat, ...change };
    setRepeat(next);
    const written = toCron(next);
    if (written !== undefined) onChange(written);
  };
  const hasTime = repeat.kind === 'day' || repeat.kind === 'week' || repeat.kind === 'month';
  return (
    <>
      <div className="schedule-repeat">
        <SelectField
          label="Repeats"
          value={repeat.kind}
          options={KINDS}
          onChange={(chosen) => set({ kind: REPEATS.find((kind) => kind === chosen) ?? 'cron' })}
        />
        {repeat.kind === 'minutes' && (
          <SelectField
            label="Minutes"
            value={repeat.every}
            options={MINUTES.map((value) => ({ value, label: value }))}
            onChange={(every) => set({ every })}
          />
        )}
        {repeat.kind === 'hour' && (
          <TextField
            label="At minute"
            type="number"
            inputMode="numeric"
            value={repeat.minute}
            onChange={(minute) => set({ minute })}
            error={isNumber(repeat.minute, 0, 59) ? undefined : 'Enter a number from 0 to 59.'}
          />
        )}
        {repeat.kind === 'week' && (
          <SelectField label="Days" value={repeat.days} options={DAYS} onChange={(days) => set({ days })} />
        )}
        {repeat.kind === 'month' && (
          <TextField
            label="Day of the month"
            type="number"
            inputMode="numeric"
            value={repeat.day}
            onChange={(day) => set({ day })}
            error={isNumber(repeat.day, 1, 31) ? undefined : 'Enter a number from 1 to 31.'}
          />
        )}
        {hasTime && <TextField label="At" type="time" value={repeat.at} onChange={(at) => set({ at })} />}
      </div>
      <TextField
        label="Cron expression"
        hint={inWords(cron) ?? 'Minute, hour, day of the month, month, day of the week'}
        autoComplete="off"
        spellCheck={false}
        value={cron}
        onChange={(text) => {
          setRepeat(ofCron(text, repeat));
          onChange(text);
        }}
        error={error}
        maxLength={300}
        isRequired
      />
    </>
  );
}

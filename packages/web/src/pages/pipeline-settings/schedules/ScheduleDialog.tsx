import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { newKey } from '../../../api/call.ts'
import { FormDialog } from '../../../parts/dialogs/FormDialog.tsx'
import { Checkbox, SelectField, TextArea, TextField } from '../../../parts/Field.tsx'
import { useDraft } from '../../../parts/settings/use-draft.ts'
import { readVariables } from '../../pipeline/variables.ts'
import type { Pipeline, PipelineAddress } from '../queries.ts'
import { NextBuilds } from './NextBuilds.tsx'
import { createSchedule, updateSchedule, type Schedule } from './queries.ts'

interface Props {
  address: PipelineAddress
  pipeline: Pipeline
  /** null: a new one. */
  schedule: Schedule | null
  onSaved: () => Promise<unknown>
  onClose: () => void
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

const ordinary: Readonly<Record<string, string>> = {
  '0 3 * * *': 'Every night at three',
  '0 9 * * mon-fri': 'On working days at nine',
  '0 6 * * mon': 'Every Monday at six',
  '0 * * * *': 'Every hour',
}

const pauseMs = 300

export function ScheduleDialog({ address, pipeline, schedule, onSaved, onClose }: Props) {
  const [key, setKey] = useState(newKey)
  const draft = useDraft({
    label: schedule?.label ?? '',
    cronline: schedule?.cronline ?? `0 3 * * * ${zone}`,
    branch: schedule?.branch ?? '',
    commit: schedule?.commit ?? 'HEAD',
    message: schedule?.message ?? '',
    env: Object.entries(schedule?.env ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
    enabled: schedule?.enabled ?? true,
  })
  const { fields, set } = draft
  const shown = useAfterPause(fields.cronline)
  const variables = readVariables(fields.env)
  const save = useMutation({
    async mutationFn(env: Record<string, string>) {
      if (schedule === null) await createSchedule(address, { ...fields, env }, key)
      else {
        const { env: isChanged, ...changed } = draft.changed
        await updateSchedule(address, schedule.id, {
          ...changed,
          ...(isChanged === undefined ? {} : { env }),
        })
      }
      await onSaved()
    },
    onSuccess: onClose,
    onError: () => setKey(newKey()),
  })
  return (
    <FormDialog
      title={schedule === null ? 'New schedule' : 'Edit the schedule'}
      action={schedule === null ? 'Create schedule' : 'Save'}
      isBusy={save.isPending}
      onSubmit={() => {
        if (variables.ok) save.mutate(variables.values)
      }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={fields.label}
        maxLength={255}
        placeholder="Nightly"
        onValue={(label) => set({ label })}
      />
      {schedule === null && (
        <SelectField
          label="How often"
          value={Object.keys(ordinary).find((line) => fields.cronline === `${line} ${zone}`) ?? ''}
          onValue={(line) => line !== '' && set({ cronline: `${line} ${zone}` })}
        >
          {Object.entries(ordinary).map(([line, text]) => (
            <option key={line} value={line}>
              {text}
            </option>
          ))}
          <option value="">As written below</option>
        </SelectField>
      )}
      <TextField
        label="Cron line"
        value={fields.cronline}
        required
        maxLength={1000}
        spellCheck={false}
        hint="Minute, hour, day of the month, month, day of the week, and a time zone; or a word such as @daily."
        onValue={(cronline) => set({ cronline })}
      />
      {shown.trim() !== '' && <NextBuilds address={address} cronline={shown} />}
      <TextField
        label="Branch"
        value={fields.branch}
        maxLength={255}
        placeholder={pipeline.default_branch}
        hint="Empty: the default branch."
        onValue={(branch) => set({ branch })}
      />
      <TextField
        label="Commit"
        value={fields.commit}
        maxLength={255}
        hint="HEAD is the newest commit of the branch."
        onValue={(commit) => set({ commit })}
      />
      <TextField
        label="Message of the builds"
        value={fields.message}
        placeholder={fields.label}
        onValue={(message) => set({ message })}
      />
      <TextArea
        label="Environment variables"
        value={fields.env}
        placeholder={'NAME=value\nOTHER=value'}
        problem={variables.ok ? undefined : variables.problem}
        onValue={(env) => set({ env })}
      />
      <Checkbox
        label="It makes builds"
        checked={fields.enabled}
        onCheck={(isChecked) => set({ enabled: isChecked })}
      />
      {schedule !== null && schedule.created_by !== null && (
        <p className="muted">Its builds are then made in your name.</p>
      )}
      {save.error !== null && <p role="alert">{save.error.message}</p>}
    </FormDialog>
  )
}

/** The value that somebody has stopped typing. */
function useAfterPause(value: string): string {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value])
  return rested
}

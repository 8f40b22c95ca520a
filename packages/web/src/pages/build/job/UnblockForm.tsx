import { showLabel } from '../../../parts/labels.ts'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import type { JobAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { announceNow } from '../../../parts/announce.ts'
import { Button } from '../../../parts/Button.tsx'
import { Prompt } from './Prompt.tsx'
import { showState, useRefreshGraph } from './job-actions.ts'
import { findMissing, firstAnswers } from './unblock-answers.ts'
import { UnblockField } from './UnblockField.tsx'
import { useAction } from '../use-action.ts'
import styles from '../Content.module.css'

const path = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}/jobs/{job}/unblock' as const

interface Props {
  address: JobAddress
  job: Job
  detail: Schemas['Job']
  table: JobTable
}

export function UnblockForm({ address, job, detail, table }: Props) {
  const fields = detail.fields ?? []
  const [answers, setAnswers] = useState(() => firstAnswers(fields))
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})
  const refresh = useRefreshGraph(address)
  const { isBusy, start } = useAction({
    show: () => showState(table, job, 'unblocked', refresh),
    send: async (idempotencyKey) => {
      await call(`PUT ${path}`, { params: address, body: { fields: answers }, idempotencyKey })
      announceNow(`${job.name} is unblocked.`)
      void refresh()
    },
  })
  const submit = () => {
    const missing = findMissing(fields, answers)
    setProblems(missing)
    const [first] = Object.values(missing)
    if (first === undefined) start()
    else announceNow(first)
  }
  return (
    <form
      className={styles.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <p className={styles.lead}>{detail.label ? showLabel(detail.label) : job.name}</p>
      <Prompt text={detail.prompt} />
      {fields.map((field) => (
        <UnblockField
          key={field.key}
          field={field}
          answer={answers[field.key] ?? ''}
          problem={problems[field.key]}
          onAnswer={(answer) => setAnswers({ ...answers, [field.key]: answer })}
        />
      ))}
      <div className={styles.actions}>
        <Button isWrite kind="primary" type="submit" icon="lock-open" isBusy={isBusy} disabled={isBusy}>
          {detail.submit || 'Unblock'}
        </Button>
      </div>
    </form>
  )
}

import { askPerson, answersAmong } from '../../run/questions.ts'
import { processTerminal } from '../../run/terminal.ts'
import type { Field } from '@millrace/engine/steps/types.ts'
import type { Job } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import type { Pair } from '../../pairs.ts'
import { Refused } from '../../refused.ts'
import type { Api } from '../api.ts'
import { oneLine, readable } from '../text.ts'
import { findBuild, type BuildOptions } from '../find-build.ts'

export interface UnblockOptions extends BuildOptions {
  step?: string
  field: readonly Pair[]
}

/** Asks for what the options leave open if somebody can answer. The server fills in defaults and refuses what is missing. */
export async function unblockBuild(text: string | undefined, options: UnblockOptions): Promise<void> {
  const { api, path, job: id, name } = await findBuild(text, options)
  const job = choose(await listBlocked(api, path), options.step ?? id ?? undefined, name)
  const given = new Map<string, string[]>()
  for (const [key, value] of options.field) given.set(key, [...(given.get(key) ?? []), value])
  const fields = (job.fields ?? []) as readonly Field[]
  refuseUnknown(fields, [...given.keys()])
  const answers = answersAmong(fields, given)
  const isComplete = fields.every(({ key }) => given.has(key))
  const terminal = processTerminal()
  const shouldAsk = terminal.isInteractive && !options.json && !(fields.length > 0 && isComplete)
  const work = {
    kind: 'manual' as const,
    label: job.name,
    prompt: job.prompt ? readable(job.prompt) : null,
    submit: oneLine(job.submit ?? `Unblock ${job.name ?? 'the step'}`),
    fields: fields.map(withoutControls),
    blockedState: 'passed' as const,
    allowedTeams: [],
  }
  const asked = shouldAsk ? await askPerson(terminal, work, answers) : answers
  if (asked === null) throw new Refused('Nothing was unblocked.')
  const unblocked = await api.put<Job>(`jobs/${job.id}/unblock`, { fields: asked })
  print(options, unblocked, `${oneLine(job.name ?? 'The step')} is unblocked.`)
}

async function listBlocked(api: Api, path: string): Promise<Job[]> {
  const jobs: Job[] = []
  for await (const job of api.pages<Job>(`${path}/jobs?state[]=blocked&include_retried_jobs=false`)) {
    if (job.type === 'manual' && job.unblockable) jobs.push(job)
  }
  return jobs
}

function choose(jobs: readonly Job[], wanted: string | undefined, name: string): Job {
  const fitting = jobs.filter(
    (job) =>
      wanted === undefined || [job.id, job.step_key, job.name, oneLine(job.name ?? '')].includes(wanted),
  )
  const [only, ...others] = fitting
  if (only !== undefined && others.length === 0) return only
  const names = jobs.map((job) => oneLine(job.step_key ?? job.name ?? job.id)).join(', ')
  if (jobs.length === 0) throw new Refused(`No step of ${name} waits for a person now.`)
  if (only === undefined)
    throw new Refused(`No blocked step of ${name} is ${oneLine(wanted ?? '')}. There are: ${names}.`)
  throw new Refused(`Several steps of ${name} are blocked: ${names}. Choose one with --step.`)
}

function refuseUnknown(fields: readonly Field[], keys: readonly string[]): void {
  const unknown = keys.find((key) => !fields.some((field) => field.key === key))
  if (unknown === undefined) return
  const known = fields.map(({ key }) => oneLine(key)).join(', ')
  throw new Refused(`The step has no field ${unknown}. ${known === '' ? 'It has none' : `It has: ${known}`}.`)
}

function withoutControls(field: Field): Field {
  const common = { label: oneLine(field.label), hint: field.hint === null ? null : readable(field.hint) }
  if (field.kind === 'text') {
    return { ...field, ...common, default: field.default === null ? null : oneLine(field.default) }
  }
  const options = field.options.map((option) => ({
    ...option,
    label: oneLine(option.label),
    hint: option.hint === null ? null : oneLine(option.hint),
  }))
  return { ...field, ...common, options }
}

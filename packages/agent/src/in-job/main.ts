// The `buildkite-agent` command of a job.

import { openSession, headersFromEnv } from '../http/session.ts'
import { VERSION } from '../version.ts'
import { COMMON_FLAGS, parseLine } from './flags.ts'
import { Exit } from './verb.ts'
import type { Flags, Io, Verb } from './verb.ts'
import { agentVerbs } from './verbs/agent.ts'
import { annotationVerbs } from './verbs/annotation.ts'
import { artifactVerbs } from './verbs/artifact.ts'
import { envVerbs } from './verbs/env.ts'
import { jobVerbs } from './verbs/job.ts'
import { lockVerbs } from './verbs/lock.ts'
import { metaDataVerbs } from './verbs/meta-data.ts'
import { oidcVerbs } from './verbs/oidc.ts'
import { pipelineVerbs } from './verbs/pipeline.ts'
import { redactorVerbs } from './verbs/redactor.ts'
import { secretVerbs } from './verbs/secret.ts'
import { stepVerbs } from './verbs/step.ts'

const verbs: readonly Verb[] = [
  ...agentVerbs,
  ...annotationVerbs,
  ...artifactVerbs,
  ...envVerbs,
  ...jobVerbs,
  ...lockVerbs,
  ...metaDataVerbs,
  ...oidcVerbs,
  ...pipelineVerbs,
  ...redactorVerbs,
  ...secretVerbs,
  ...stepVerbs,
]

/** Returns the exit status. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  try {
    await dispatch(words, io)
    return 0
  } catch (error) {
    if (error instanceof Exit) {
      if (error.message !== '') io.tell(error.message)
      return error.status
    }
    io.tell(`fatal: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
}

async function dispatch(words: readonly string[], io: Io): Promise<void> {
  if (words[0] === '--version' || words[0] === 'version') {
    io.print(`millrace-agent version ${VERSION}\n`)
    return
  }
  const verb = verbs.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
  if (!verb) {
    const wanted = words[0] ?? ''
    if (wanted === '' || wanted === 'help' || wanted === '--help' || wanted === '-h') io.print(listVerbs(''))
    else if (verbs.some(({ name }) => name.startsWith(`${wanted} `))) io.print(listVerbs(`${wanted} `))
    else throw new Exit(1, `There is no command "${words.join(' ')}".\n\n${listVerbs('')}`)
    return
  }
  const known = { ...COMMON_FLAGS, ...verb.flags }
  const { args, flags } = parseLine(words.slice(verb.name.split(' ').length), known, io.env)
  if (flags.isOn('help')) {
    io.print(describeVerb(verb))
    return
  }
  await verb.run({ args, flags, io, api: () => openApi(flags, io) })
}

function openApi(flags: Flags, io: Io) {
  const session = openSession(
    flags.need('endpoint'),
    flags.need('agent-access-token'),
    headersFromEnv(io.env),
  )
  const waiting = (failure: unknown, attempt: number, seconds: number) => {
    const message = failure instanceof Error ? failure.message : String(failure)
    io.tell(`${message} (attempt ${attempt + 1}, trying again in ${seconds.toFixed(1)} s)`)
  }
  return { session, clock: io.clock, waiting }
}

function listVerbs(prefix: string): string {
  const lines = verbs
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name, summary }) => `  ${name.padEnd(24)} ${summary}`)
  return `Usage: buildkite-agent <command> [arguments]\n\n${lines.join('\n')}\n`
}

function describeVerb({ name, usage, summary, flags }: Verb): string {
  const lines = Object.entries(flags).map(([flag, { kind, summary: about, variable, fallback }]) => {
    const value = kind === 'switch' ? '' : ' <value>'
    const notes = [
      variable === undefined ? '' : `$${variable}`,
      fallback === undefined ? '' : `default ${fallback}`,
    ]
    const noted = notes.filter((note) => note !== '').join(', ')
    return `  --${`${flag}${value}`.padEnd(32)} ${about}${noted === '' ? '' : ` (${noted})`}`
  })
  return `${summary}\n\nUsage: buildkite-agent ${name} ${usage}\n\n${lines.join('\n')}\n`
}

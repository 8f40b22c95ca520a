// The `buildkite-agent` command of a job.

import { openSession, headersFromEnv } from '../http/session.ts'
import { VERSION } from '../version.ts'
import { COMMON_FLAGS, parseLine } from './flags.ts'
import { Exit } from './verb.ts'
import type { Flags, Io, Verb } from './verb.ts'

/** By the first word. Loading only the needed commands saves a third of the start. */
const families: ReadonlyArray<[firstWords: readonly string[], load: () => Promise<readonly Verb[]>]> = [
  [
    ['stop', 'pause', 'resume', 'git-credentials-helper'],
    async () => (await import('./verbs/agent.ts')).agentVerbs,
  ],
  [['annotate', 'annotation'], async () => (await import('./verbs/annotation.ts')).annotationVerbs],
  [['artifact'], async () => (await import('./verbs/artifact.ts')).artifactVerbs],
  [['cache'], async () => (await import('./verbs/cache.ts')).cacheVerbs],
  [['env'], async () => (await import('./verbs/env.ts')).envVerbs],
  [['job'], async () => (await import('./verbs/job.ts')).jobVerbs],
  [['lock'], async () => (await import('./verbs/lock.ts')).lockVerbs],
  [['meta-data'], async () => (await import('./verbs/meta-data.ts')).metaDataVerbs],
  [['oidc'], async () => (await import('./verbs/oidc.ts')).oidcVerbs],
  [['pipeline'], async () => (await import('./verbs/pipeline.ts')).pipelineVerbs],
  [['redactor'], async () => (await import('./verbs/redactor.ts')).redactorVerbs],
  [['secret'], async () => (await import('./verbs/secret.ts')).secretVerbs],
  [['tool'], async () => (await import('./verbs/tool.ts')).toolVerbs],
  [['step', 'build'], async () => (await import('./verbs/step.ts')).stepVerbs],
  [['test-result'], async () => (await import('./verbs/test-result.ts')).testResultVerbs],
  [['workdir'], async () => (await import('./verbs/workdir.ts')).workdirVerbs],
]

const loadAll = async (): Promise<readonly Verb[]> =>
  (await Promise.all(families.map(([, load]) => load()))).flat()

const loadFamily = async (word = ''): Promise<readonly Verb[]> =>
  families.find(([firstWords]) => firstWords.includes(word))?.[1]() ?? []

const findIn = (verbs: readonly Verb[], words: readonly string[]): Verb | undefined =>
  verbs.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))

/** Returns the exit status. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  try {
    await dispatch(words, io)
    return 0
  } catch (error) {
    if (error instanceof Exit) {
      if (error.message !== '') io.printError(error.message)
      return error.status
    }
    io.printError(`fatal: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
}

async function dispatch(words: readonly string[], io: Io): Promise<void> {
  if (words[0] === '--version' || words[0] === 'version') {
    io.print(`millrace-agent version ${VERSION}\n`)
    return
  }
  const verb = findIn(await loadFamily(words[0]), words)
  if (!verb) {
    const verbs = await loadAll()
    const wanted = words[0] ?? ''
    if (wanted === '' || wanted === 'help' || wanted === '--help' || wanted === '-h') {
      io.print(listVerbs(verbs, ''))
    } else if (verbs.some(({ name }) => name.startsWith(`${wanted} `))) {
      io.print(listVerbs(verbs, `${wanted} `))
    } else throw new Exit(1, `There is no command "${words.join(' ')}".\n\n${listVerbs(verbs, '')}`)
    return
  }
  const known = { ...COMMON_FLAGS, ...verb.flags }
  const { args, rest, flags } = parseLine(words.slice(verb.name.split(' ').length), known, io.env)
  if (flags.isOn('help')) {
    io.print(describeVerb(verb))
    return
  }
  await verb.run({ args, rest, flags, io, api: () => openApi(flags, io) })
}

function openApi(flags: Flags, io: Io) {
  const session = openSession(
    flags.need('endpoint'),
    flags.need('agent-access-token'),
    headersFromEnv(io.env),
  )
  const waiting = (failure: unknown, attempt: number, seconds: number) => {
    const message = failure instanceof Error ? failure.message : String(failure)
    io.printError(`${message} (attempt ${attempt + 1}, trying again in ${seconds.toFixed(1)} s)`)
  }
  return { session, clock: io.clock, waiting }
}

function listVerbs(verbs: readonly Verb[], prefix: string): string {
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

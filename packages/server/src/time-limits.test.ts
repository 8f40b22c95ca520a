// docs/time-limits.md lists what the program waits for. Its figures are those of the sources, and whatever opens a connection or
// starts a program is in it, or below with the reason why not.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

const page = read('docs/time-limits.md')
const rows = [...page.matchAll(/^\| (.+) \| (\d+) (s|min|days) \| .+ \| (`.+`) \|$/gm)].map(
  ([, what, count, , where = '']) => {
    const [place = '', name] = [...where.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
    return { what, count: Number(count), place, name }
  },
)

/** `operating.md` is checked against the settings themselves. */
const defaults = new Map(
  [...read('docs/operating.md').matchAll(/^\| `(MILLRACE_\w+)` \| (\d+) \|/gm)].map(([, name, value]) => [
    name,
    value,
  ]),
)

/** A number, or a product of numbers, after the name. */
function secondsOf(file: string, name: string): number | undefined {
  const [, product] =
    new RegExp(`\\b${name}\\b(?:: number)?(?: =|:| \\?\\?) ([\\d_]+(?: \\* [\\d_]+)*)`).exec(
      read(`packages/${file}`),
    ) ?? []
  if (product === undefined) return undefined
  const value = product.split(' * ').reduce((all, part) => all * Number(part.replaceAll('_', '')), 1)
  return /ms$/i.test(name) ? value / 1000 : value
}

const sources = ['agent', 'cli', 'engine', 'server', 'web'].flatMap((name) =>
  readdirSync(new URL(`packages/${name}/src`, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
    .map((file) => `${name}/src/${file}`),
)

const values = 'import (?!type)[^;\'"]*'
const waiting = [
  /\bfetch\(/,
  new RegExp(
    `${values}\\b(?:spawn|execFile|exec|fork|spawnSync|execFileSync)\\b[^;'"]* from 'node:child_process'`,
  ),
  new RegExp(`${values}\\brequest\\b[^;'"]* from 'node:https?'`),
  new RegExp(`${values}\\b(?:connect|createConnection)\\b[^;'"]* from 'node:(?:net|tls)'`),
  new RegExp(`${values} from '(?:undici|nodemailer|dockerode|openid-client|@kubernetes/|@aws-sdk/)`),
  /\bimport\('(?:node:https?|undici|nodemailer|dockerode|openid-client|@kubernetes\/|@aws-sdk\/)/,
  /\bnew pg\.(?:Client|Pool)\b|\bextends pg\.Pool\b/,
]

const withoutComments = (text: string) => text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')

const ofJob = 'The limit of the job ends it.'
const inTerminal = 'A person waits for it, and can end it.'
const local = 'A program of ours on the same machine, which is ended with this one.'
const elsewhere: Readonly<Record<string, string>> = {
  'agent/src/http/exchange.ts': 'Its callers take their limits from wait-table.ts.',
  'agent/src/in-job/pipeline/changed-files.ts': ofJob,
  'agent/src/in-job/test-result/run-command.ts': ofJob,
  'agent/src/job-reaper.ts': local,
  'agent/src/job/mirror.ts': ofJob,
  'agent/src/job/processes.ts': ofJob,
  'agent/src/job/workplaces.ts': ofJob,
  'agent/src/separate/job-folders.ts': 'It deletes files of a job on the local disk.',
  'agent/src/separate/launch.ts': ofJob,
  'agent/src/sockets/http.ts': 'A socket of the agent on the same machine, in a job: its limit ends it.',
  'cli/src/client/browser.ts': inTerminal,
  'cli/src/client/pager.ts': inTerminal,
  'cli/src/client/preflight/snapshot.ts': inTerminal,
  'cli/src/run/checkout.ts': inTerminal,
  'cli/src/run/job-process.ts': 'Steps have time limits here too.',
  'server/src/db/embedded/postmaster.ts': local,
  'server/src/db/embedded/processes.ts': local,
  'server/src/db/embedded/watchdog.ts': local,
  'server/src/db/renewing-pool.ts': 'pool.ts gives it its limits.',
  'server/src/hosted/runner.ts': 'The agent inside of a container: the limits of agents and jobs.',
  'server/src/notifications/delivery/cloud-bus.ts': 'It sends through lib/outbound.ts.',
  'server/src/program/local-agent-process.ts': local,
}

describe('docs/time-limits.md', () => {
  it.each(rows)('has the limit of $what', ({ count, place, name }) => {
    expect(name === undefined ? Number(defaults.get(place)) : secondsOf(place, name)).toBe(count)
  })

  it('has a number and a place in each row', () => {
    expect(rows).toHaveLength(page.match(/`.* \|$/gm)?.length ?? 0)
  })

  it('has every source that opens connections or starts programs', () => {
    const found = sources.filter((file) =>
      waiting.some((one) => one.test(withoutComments(read(`packages/${file}`)))),
    )
    const known = new Set([...rows.map(({ place }) => place), ...Object.keys(elsewhere)])
    expect(found.filter((file) => !known.has(file))).toEqual([])
    expect(Object.keys(elsewhere).filter((file) => !found.includes(file))).toEqual([])
  })
})

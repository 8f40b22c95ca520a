// What a fork's job may ask a repository: the commit that is built and the refs of its own pull request. Its requests are written
// anew from what is known to be harmless, so nothing else of them reaches the host.
import { readPackets, textOf, writePackets } from '../../source-hosts/pkt-lines.ts'

interface Command {
  name: string
  capabilities: string[]
  args: string[]
}

/** A request of version 2 of git's protocol; null: something else. */
export function readCommand(bytes: Buffer): Command | null {
  const packets = readPackets(bytes)
  if (packets === null || packets.at(-1) !== 'flush') return null
  const inner = packets.slice(0, -1)
  const middle = inner.indexOf('delimiter')
  const head = middle < 0 ? inner : inner.slice(0, middle)
  const rest = middle < 0 ? [] : inner.slice(middle + 1)
  if (![...head, ...rest].every(Buffer.isBuffer)) return null
  const [first = '', ...capabilities] = head.map(textOf)
  const [, name] = /^command=([a-z-]+)$/.exec(first) ?? []
  return name === undefined ? null : { name, capabilities, args: rest.map(textOf) }
}

const passedCapability = /^(?:object-format=sha(?:1|256)|agent=[\x21-\x7e]+)$/

const writeCommand = ({ name, capabilities, args }: Command): Buffer =>
  writePackets([
    `command=${name}\n`,
    ...capabilities.filter((one) => passedCapability.test(one)).map((one) => `${one}\n`),
    'delimiter',
    ...args.map((arg) => `${arg}\n`),
    'flush',
  ])

/** Lists these refs only, whatever was asked for. */
export const listing = ({ capabilities }: Pick<Command, 'capabilities'>, refs: readonly string[]): Buffer =>
  writeCommand({ name: 'ls-refs', capabilities, args: refs.map((ref) => `ref-prefix ${ref}`) })

/** A prefix matches longer names too. null: the answer is no list of refs. */
export function onlyRefs(answer: Buffer, refs: readonly string[]): Map<string, string> | null {
  const packets = readPackets(answer)
  if (packets === null || packets.at(-1) !== 'flush') return null
  const found = new Map<string, string>()
  for (const packet of packets.slice(0, -1)) {
    const [, commit = '', ref = ''] = /^([0-9a-f]{40}|[0-9a-f]{64}) ([^ ]+)/.exec(textOf(packet)) ?? []
    if (refs.includes(ref)) found.set(ref, commit)
  }
  return found
}

export const writeRefs = (refs: ReadonlyMap<string, string>): Buffer =>
  writePackets([...[...refs].map(([ref, commit]) => `${commit} ${ref}\n`), 'flush'])

export const wantsOf = ({ args }: Command): string[] =>
  args.filter((arg) => arg.startsWith('want ')).map((arg) => arg.slice('want '.length))

const id = '(?:[0-9a-f]{40}|[0-9a-f]{64})'
const passedArgument = new RegExp(
  `^(?:(?:want|shallow) ${id}|done|no-progress|ofs-delta|deepen \\d{1,9}|deepen-relative|deepen-since \\d{1,12}|filter (?:blob:none|blob:limit=\\d+[kmg]?|tree:\\d+))$`,
)

/**
 * Says that the job has nothing the host knows. Otherwise the host would tell which commits it has, and how its files differ from
 * those of any commit that a job claims to have.
 */
export const nothingInCommon = writePackets(['acknowledgments\n', 'NAK\n', 'flush'])

export const isNegotiation = ({ args }: Command): boolean =>
  args.some((arg) => arg.startsWith('have ')) && !args.includes('done')

/** The caller has checked what it wants. */
export const fetching = ({ capabilities, args }: Command): Buffer =>
  writeCommand({ name: 'fetch', capabilities, args: args.filter((arg) => passedArgument.test(arg)) })

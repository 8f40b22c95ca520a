import { randomUUID } from 'node:crypto'
import { readLock, swapLock } from '../../sockets/locks.ts'
import type { LockAccess } from '../../sockets/locks.ts'
import { argument, Exit } from '../verb.ts'
import type { Flag, Verb, VerbCall } from '../verb.ts'

const FLAGS: Readonly<Record<string, Flag>> = {
  'lock-scope': {
    kind: 'text',
    summary: 'Only machine',
    variable: 'BUILDKITE_LOCK_SCOPE',
    fallback: 'machine',
  },
  'sockets-path': {
    kind: 'text',
    summary: 'Where agents of this machine meet',
    variable: 'BUILDKITE_SOCKETS_PATH',
  },
  'lock-wait-timeout': {
    kind: 'text',
    summary: 'Such as 30s or 5m; absent: for ever',
    variable: 'BUILDKITE_LOCK_WAIT_TIMEOUT',
  },
}
const CHECK_MS = 100

const acquire: Verb = {
  name: 'lock acquire',
  usage: '<key>',
  summary: 'Wait for the lock and print the token that releases it.',
  flags: FLAGS,
  async run(call) {
    const token = randomUUID()
    await waitFor(
      call,
      async (access, key) => (await swapLock(access, key, { from: '', to: token })).isSwapped,
    )
    call.io.print(`${token}\n`)
  },
}

const release: Verb = {
  name: 'lock release',
  usage: '<key> <token>',
  summary: 'Give the lock back.',
  flags: FLAGS,
  async run(call) {
    const change = { from: argument(call, 1, 'token'), to: '' }
    const { isSwapped } = await swapLock(accessOf(call), argument(call, 0, 'key'), change)
    if (!isSwapped) throw new Exit(1, 'The token does not hold this lock.')
  },
}

const once: Verb = {
  name: 'lock do',
  usage: '<key>',
  summary: 'Print "do" for the first to ask; for all others wait until it is done, then print "done".',
  flags: FLAGS,
  async run(call) {
    await waitFor(call, async (access, key) => {
      const { value, isSwapped } = await swapLock(access, key, { from: '', to: 'doing' })
      if (isSwapped) call.io.print('do\n')
      else if (value === 'done') call.io.print('done\n')
      return isSwapped || value === 'done'
    })
  },
}

const done: Verb = {
  name: 'lock done',
  usage: '<key>',
  summary: 'Say that what "lock do" asked for is done.',
  flags: FLAGS,
  async run(call) {
    const change = { from: 'doing', to: 'done' }
    const { isSwapped } = await swapLock(accessOf(call), argument(call, 0, 'key'), change)
    if (!isSwapped) throw new Exit(1, 'Nobody is doing this.')
  },
}

const get: Verb = {
  name: 'lock get',
  usage: '<key>',
  summary: 'Print the value of the lock, empty when it is free.',
  flags: FLAGS,
  async run(call) {
    const value = await readLock(accessOf(call), argument(call, 0, 'key'))
    call.io.print(`${value}\n`)
  },
}

export const lockVerbs = [acquire, release, once, done, get]

const accessOf = ({ flags, io }: VerbCall): LockAccess => ({
  socketsPath: flags.need('sockets-path'),
  token: io.env['MILLRACE_LOCK_TOKEN'] || null,
})

async function waitFor(
  call: VerbCall,
  attempt: (access: LockAccess, key: string) => Promise<boolean>,
): Promise<void> {
  const { flags, io } = call
  const access = accessOf(call)
  const key = argument(call, 0, 'key')
  const until = io.clock.now() + patienceMs(flags.text('lock-wait-timeout'))
  while (!(await attempt(access, key))) {
    if (io.clock.now() >= until) throw new Exit(1, 'The lock was not free in time.')
    await io.clock.sleep(CHECK_MS)
  }
}

function patienceMs(text: string): number {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text)
  return match ? Number(match[1]) * (units[match[2] ?? ''] ?? 1) : Number.POSITIVE_INFINITY
}

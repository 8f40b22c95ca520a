import { execFile, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

interface TestNetwork {
  name: string
  hostAddress: string
  remove(): Promise<void>
  /** Synchronous, for the end of the process. */
  abandon(): void
}

/** A network namespace with a link to this machine and no route beyond it. */
export async function makeNetwork(): Promise<TestNetwork> {
  const number = randomInt(1, 16_000)
  const name = `mrtest${process.pid}-${number}`
  const [outer, inner] = [`mro${number}`, `mri${number}`]
  const prefix = `10.${213 + (number >> 12)}.${(number >> 4) & 255}.${(number & 15) * 16}`.split('.')
  const address = (offset: number) => [...prefix.slice(0, 3), Number(prefix[3]) + offset].join('.')
  const ip = (...given: string[]) => run('ip', given)
  const network: TestNetwork = {
    name,
    hostAddress: address(1),
    async remove() {
      await ip('netns', 'del', name).catch(() => {})
      await ip('link', 'del', outer).catch(() => {})
    },
    abandon() {
      spawnSync('ip', ['netns', 'del', name])
      spawnSync('ip', ['link', 'del', outer])
    },
  }
  await deleteAbandoned()
  try {
    await ip('netns', 'add', name)
    await ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', name)
    await ip('addr', 'add', `${address(1)}/30`, 'dev', outer)
    await ip('link', 'set', outer, 'up')
    await ip('-n', name, 'addr', 'add', `${address(2)}/30`, 'dev', inner)
    await ip('-n', name, 'link', 'set', inner, 'up')
    await ip('-n', name, 'link', 'set', 'lo', 'up')
    await ip('-n', name, 'route', 'add', 'default', 'via', address(1))
    await run('nsenter', [
      `--net=/run/netns/${name}`,
      '--',
      'sh',
      '-c',
      'echo 1 > /proc/sys/net/ipv4/ip_forward',
    ])
  } catch (error) {
    await network.remove()
    throw error
  }
  return network
}

/** Deletes the namespaces of processes that were killed, and with them their links. */
async function deleteAbandoned(): Promise<void> {
  const { stdout } = await run('ip', ['netns', 'list'])
  for (const [name = '', pid] of stdout.matchAll(/^mrtest(\d+)-\S+/gm)) {
    if (!existsSync(`/proc/${pid}`)) await run('ip', ['netns', 'del', name]).catch(() => {})
  }
}

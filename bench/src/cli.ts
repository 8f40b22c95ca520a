// The start of the command line, compared with a bare Node: `--help`, and a client command whose server answers at once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { middle } from './harness/load.ts'
import type { Report } from './harness/report.ts'

const rounds = 21
const warmUpRounds = 3
/** Node starts in about 50 ms on an idle machine, so this is 150 ms more. */
const target = 4

const program = fileURLToPath(new URL('../../packages/cli/bin/millrace.js', import.meta.url))

export async function benchCli(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-cli-'))
  const server = createServer((_request, response) => void response.end('[]'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const env = {
    PATH: process.env['PATH'],
    XDG_CONFIG_HOME: folder,
    MILLRACE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    MILLRACE_TOKEN: 'token',
    MILLRACE_ORG: 'acme',
  }
  const cases: Record<string, string[]> = {
    'node -e 0': ['-e', '0'],
    'millrace --help': [program, '--help'],
    'millrace pipeline list': [program, 'pipeline', 'list'],
  }
  const times = new Map(Object.keys(cases).map((name) => [name, [] as number[]]))
  // They alternate, so that other load on the machine affects them equally.
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const [name, args] of Object.entries(cases)) {
      const ms = await timeOf(args, env)
      if (round >= 0) times.get(name)?.push(ms)
    }
  }
  server.close()
  rmSync(folder, { recursive: true })
  return report(times)
}

async function timeOf(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const begin = performance.now()
  const child = spawn(process.execPath, args, { env, stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}.`)
  return performance.now() - begin
}

function report(times: ReadonlyMap<string, number[]>): Report {
  const bare = middle(times.get('node -e 0') ?? [])
  const measured = Array.from(times, ([what, all]) => ({ what, ms: middle(all) }))
  return {
    name: 'cli',
    rows: measured.map(({ what, ms }) => ({
      what,
      'median ms': ms.toFixed(0),
      'beyond node ms': (ms - bare).toFixed(0),
      ratio: (ms / bare).toFixed(2),
    })),
    targets: measured.slice(1).map(({ what, ms }) => ({
      what: `${what}, of the start of Node`,
      target: `≤ ${target}`,
      measured: (ms / bare).toFixed(2),
      met: ms / bare <= target,
    })),
  }
}

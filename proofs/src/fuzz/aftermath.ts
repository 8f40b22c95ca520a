// Checks the server and its database after the requests.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { parseTime } from '../../../testbed/dist/parse-time.js'
import type { Attempt } from './requests/attempt.ts'
import type { Health } from './child-server.ts'
import type { Client } from './client.ts'
import { outcomeOf } from './coverage.ts'
import type { Finding } from './run.ts'
import { crossReferences, wrongCounters } from './tenants.ts'

/**
 * The longest pause of the event loop, as a multiple of the time to parse a mebibyte of JSON. The time that the host of a
 * virtual machine takes counts as time of the process.
 */
const longestPause = 80
const mostMiB = 1500

const general = (problem: string): Finding => ({
  number: null,
  operation: '',
  problem,
  changes: [],
  curl: '',
})

/** Work that the creation of the rows has started comes to its end first. */
export async function settledDigest(
  read: () => Promise<Record<string, string>>,
): Promise<Record<string, string>> {
  let last = ''
  for (let same = 0; same < 3;) {
    const now = JSON.stringify(await read())
    same = now === last ? same + 1 : 0
    last = now
    await delay(1000)
  }
  return JSON.parse(last) as Record<string, string>
}

export function changedTables(before: Record<string, string>, after: Record<string, string>): Finding[] {
  return Object.keys(before)
    .filter((table) => before[table] !== after[table])
    .map((table) =>
      general(`Rows of another tenant changed: ${table} had ${before[table]}, has ${after[table]}.`),
    )
}

export async function unhealthy(client: Client): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const path of ['/healthz', '/readyz', '/v2/meta']) {
    const answer = await client.send({ method: 'GET', path, headers: {}, body: null })
    if ('failure' in answer || answer.status !== 200)
      findings.push(general(`After the run ${path} answers ${outcomeOf(answer)}.`))
  }
  return findings
}

interface LogLine {
  level: number
  msg: string
  status?: number
  request_id?: string
  err?: { message?: string; stack?: string }
}

const errorLevel = 50

/** Errors in the server's log. Those of requests name the request. */
export async function logFindings(
  file: string,
  attemptOf: (number: number) => Attempt | undefined,
): Promise<Finding[]> {
  const findings = new Map<string, Finding>()
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const entry = JSON.parse(line) as LogLine
    const isBug = entry.level >= errorLevel || ((entry.status ?? 0) >= 500 && entry.status !== 503)
    if (!isBug) continue
    const number = /^fuzz\.(\d+)$/.exec(entry.request_id ?? '')?.[1]
    const problem = `The log has "${entry.msg}" ${entry.err?.stack ?? entry.err?.message ?? line.slice(0, 500)}`
    const attempt = number === undefined ? undefined : attemptOf(Number(number))
    // The same bug is reported once.
    if (findings.has(problem)) continue
    findings.set(problem, {
      ...general(problem),
      number: number === undefined ? null : Number(number),
      operation: attempt?.operation.id ?? '',
      changes: attempt?.changes ?? [],
    })
  }
  return [...findings.values()]
}

export function slowFindings({ pauses, mostMiB: most }: Health): Finding[] {
  const longestMs = longestPause * parseTime()
  const held = pauses
    .filter(({ ms }) => ms > longestMs)
    .map(({ ms, requests }) =>
      general(`The event loop was held for ${ms} ms by one of ${requests.join(', ')}.`),
    )
  return [...held, ...(most > mostMiB ? [general(`The server used ${most} MiB.`)] : [])]
}

export const longestPauses = ({ pauses }: Health): string =>
  pauses
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, 5)
    .map(({ ms, requests }) => `${ms} ms (${requests.slice(-3).join(', ')})`)
    .join('; ') || 'none above 100 ms'

export async function brokenRows(pool: pg.Pool): Promise<Finding[]> {
  return [...(await crossReferences(pool)), ...(await wrongCounters(pool))].map(general)
}

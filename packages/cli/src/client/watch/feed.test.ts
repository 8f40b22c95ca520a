import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aBuild, aGraph, aJob, aStep } from '../../../test/graphs.ts'
import { apiOf } from '../api.ts'
import { followBuild } from './feed.ts'
import type { Graph, ShortJob } from './graph.ts'
import type { Changes, WatchedBuild } from './model.ts'
import { describeChange } from './reports.ts'

/** Answers each request for the graph and each for the stream with the next of its answers; the last one stays. */
async function aServer(answers: {
  graphs: ReadonlyArray<Graph | number>
  streams: ReadonlyArray<(response: ServerResponse) => void>
}) {
  const asked: string[] = []
  const taken = { graphs: 0, streams: 0 }
  const next = <T>(list: readonly T[], kind: keyof typeof taken): T | undefined => {
    const at = Math.min(taken[kind], list.length - 1)
    taken[kind] += 1
    return list[at]
  }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    if (url.pathname.endsWith('/graph')) {
      asked.push('graph')
      const graph = next(answers.graphs, 'graphs')
      if (typeof graph === 'number') refuse(response, graph)
      else response.end(JSON.stringify(graph))
      return
    }
    asked.push(`stream ${url.searchParams.get('after')}`)
    next(answers.streams, 'streams')?.(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const access = { url: `http://127.0.0.1:${port}`, token: 't', org: 'acme', source: 'in a test' }
  return { api: apiOf(access, 'acme'), asked }
}

function refuse(response: ServerResponse, status: number): void {
  response.statusCode = status
  response.end(JSON.stringify({ message: `No ${status}` }))
}

const event = (id: string, changes: Changes) =>
  `id: ${id}\nevent: changes\ndata: ${JSON.stringify(changes)}\n\n`

const streamOf =
  (...texts: string[]) =>
  (response: ServerResponse): void => {
    response.setHeader('Content-Type', 'text/event-stream')
    response.end(texts.join(''))
  }

/** Ends in the middle of a message. */
const brokenStream =
  (text: string) =>
  (response: ServerResponse): void => {
    response.setHeader('Content-Type', 'text/event-stream')
    response.write(text, () => response.destroy())
  }

const job = (state: string) => ({ build_id: 'build', job: aJob('1', 'Test', { state }) })
const graphOf = (state: string, jobs: ShortJob[] = [aJob('1', 'Test', { state })], build = aBuild()): Graph =>
  aGraph([aStep('Test')], jobs, build)
const passed = aBuild({ state: 'passed' })

async function follow(server: Awaited<ReturnType<typeof aServer>>) {
  const lines: string[] = []
  const problems: Array<string | null> = []
  const listener = {
    onOpen: () => void lines.push('open'),
    onChanges(watched: WatchedBuild, changes: Parameters<typeof describeChange>[1][]) {
      for (const change of changes) {
        const line = describeChange(watched, change)
        if (line !== null) lines.push(line)
      }
    },
    onProblem: (problem: string | null) => void problems.push(problem),
  }
  const options = { signal: new AbortController().signal, pollMs: 1 }
  const watched = await followBuild(server.api, 'pipelines/web/builds/12', listener, options)
  return { lines, problems, state: watched?.build.state }
}

describe('following a build', () => {
  it('continues the stream at the cursor of the graph, and ends with the build', async () => {
    const stream = streamOf(
      'retry: 1000\n\n: still there\n\n',
      event('c2', { jobs: [job('running')] }),
      event('c3', { jobs: [job('passed')], builds: [passed] }),
    )
    const server = await aServer({ graphs: [graphOf('scheduled')], streams: [stream] })
    expect(await follow(server)).toEqual({
      lines: ['open', 'build #12: running', 'Test: running', 'Test: passed', 'build #12: passed'],
      problems: [],
      state: 'passed',
    })
    expect(server.asked).toEqual(['graph', 'stream cursor-1'])
  })

  it('continues after the last whole message when the stream breaks, and says so', async () => {
    const half = event('c3', { jobs: [job('passed')] }).slice(0, -10)
    const server = await aServer({
      graphs: [graphOf('scheduled')],
      streams: [
        brokenStream(`${event('c2', { jobs: [job('running')] })}${half}`),
        streamOf(),
        streamOf(event('c4', { jobs: [job('passed')], builds: [passed] })),
      ],
    })
    const { lines, problems } = await follow(server)
    expect(lines).toEqual([
      'open',
      'build #12: running',
      'Test: running',
      'Test: passed',
      'build #12: passed',
    ])
    expect(server.asked).toEqual(['graph', 'stream cursor-1', 'stream c2', 'stream c2'])
    expect(problems).toEqual([expect.stringContaining('The connection is lost'), null])
  })

  it('reads the graph again when steps were added, and when the server says so', async () => {
    const reset = 'event: reset\ndata: {"cursor":"x"}\n\n'
    const server = await aServer({
      graphs: [graphOf('running'), graphOf('running'), graphOf('passed', undefined, passed)],
      streams: [streamOf(event('c2', { graphs: ['build'] })), streamOf(reset)],
    })
    expect((await follow(server)).state).toBe('passed')
    expect(server.asked).toEqual(['graph', 'stream cursor-1', 'graph', 'stream cursor-1', 'graph'])
  })

  it('polls the graph where the server has no stream', async () => {
    const server = await aServer({
      graphs: [graphOf('running'), graphOf('running'), graphOf('passed', undefined, passed)],
      streams: [(response) => refuse(response, 403)],
    })
    expect((await follow(server)).lines).toEqual([
      'open',
      'Test: running',
      'build #12: running',
      'Test: passed',
      'build #12: passed',
    ])
    expect(server.asked).toEqual(['graph', 'stream cursor-1', 'graph', 'graph'])
  })

  it('starts again with a graph if its cursor is refused', async () => {
    const server = await aServer({
      graphs: [graphOf('running'), graphOf('passed', undefined, passed)],
      streams: [(response) => refuse(response, 400)],
    })
    expect((await follow(server)).state).toBe('passed')
    expect(server.asked).toEqual(['graph', 'stream cursor-1', 'graph'])
  })

  it('fails if there is no such build', async () => {
    const server = await aServer({ graphs: [404], streams: [] })
    await expect(follow(server)).rejects.toThrow('No 404')
  })
})

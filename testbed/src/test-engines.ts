// Gets container engines from the engine pool for a test file, or the reason why there is none.
import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import Docker from 'dockerode'
import { inject } from 'vitest'
import { baseImage, engineNames, type EngineName, type EnginePlace } from './engine.ts'

declare module 'vitest' {
  interface ProvidedContext {
    enginePool: string
  }
}

/** The pool's answer. */
export type PoolAnswer = EnginePlace | { lacks: string }

export interface TestEngine extends EnginePlace {
  docker: Docker
  /** An image with /etc/one, /etc/two and a few programs. */
  base: string
}

export interface EngineChoice {
  /** For the name of a test. */
  name: EngineName | 'an engine'
  /** Why its tests are skipped; null: they run. */
  lacks: string | null
  get(): TestEngine
  release(): void
}

/**
 * Acquires the first container engine that runs here, or all that MILLRACE_TEST_ENGINES names (`docker,podman`; `none` for
 * none). An engine that is named there must run. Without an engine, the only choice says why.
 */
export async function acquireEngines(): Promise<EngineChoice[]> {
  const wish = process.env['MILLRACE_TEST_ENGINES'] ?? ''
  return wish === '' ? [await acquireFirst()] : acquireNamed(wish)
}

async function acquireFirst(): Promise<EngineChoice> {
  const reasons: string[] = []
  for (const name of engineNames) {
    const engine = await acquire(name)
    if (typeof engine !== 'string') return engine
    reasons.push(`${name}: ${engine}`)
  }
  return without(reasons.join('; '))
}

async function acquireNamed(wish: string): Promise<EngineChoice[]> {
  const named = wish.toLowerCase().split(',')
  const choices: EngineChoice[] = []
  for (const name of engineNames.filter((one) => named.includes(one.toLowerCase()))) {
    const engine = await acquire(name)
    if (typeof engine === 'string') throw new Error(`${name}: ${engine}`)
    choices.push(engine)
  }
  return choices.length > 0 ? choices : [without(`MILLRACE_TEST_ENGINES is ${wish}`)]
}

function without(lacks: string): EngineChoice {
  const get = () => {
    throw new Error(`There is no container engine here: ${lacks}`)
  }
  return { name: 'an engine', lacks, get, release() {} }
}

/** The engine, or the reason why it does not run. */
async function acquire(name: EngineName): Promise<EngineChoice | string> {
  const socket = connect(inject('enginePool'))
  await once(socket, 'connect')
  socket.write(`${name}\n`)
  const [line] = (await once(createInterface({ input: socket }), 'line')) as [string]
  const answer = JSON.parse(line) as PoolAnswer
  // The file may end without releasing it.
  socket.unref()
  if ('lacks' in answer) {
    socket.destroy()
    return answer.lacks
  }
  const engine = { ...answer, docker: new Docker({ socketPath: answer.socketPath }), base: baseImage }
  return { name, lacks: null, get: () => engine, release: () => void socket.destroy() }
}

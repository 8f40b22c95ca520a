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
  name: EngineName
  /** Why its tests are skipped; null: they run. */
  lacks: string | null
  /** For the name of a test. */
  title: string
  get(): TestEngine
  release(): void
}

/**
 * Acquires one container engine, or those that MILLRACE_TEST_ENGINES names (`docker,podman`; `none` for none). An engine
 * that is named there must run.
 */
export async function acquireEngines(): Promise<EngineChoice[]> {
  const wish = process.env['MILLRACE_TEST_ENGINES'] ?? ''
  const named = wish.toLowerCase().split(',')
  const choices: EngineChoice[] = []
  for (const name of engineNames) {
    if (wish !== '' && !named.includes(name.toLowerCase())) {
      choices.push(without(name, `MILLRACE_TEST_ENGINES is ${wish}`))
    } else if (wish === '' && choices.some(({ lacks }) => lacks === null)) {
      choices.push(without(name, 'one engine is enough unless MILLRACE_TEST_ENGINES names more'))
    } else {
      const choice = await acquire(name)
      if (wish !== '' && choice.lacks !== null) throw new Error(`${name}: ${choice.lacks}`)
      choices.push(choice)
    }
  }
  return choices
}

function without(name: EngineName, lacks: string): EngineChoice {
  const get = () => {
    throw new Error(`There is no ${name} here: ${lacks}`)
  }
  return { name, lacks, title: `${name} (skipped: ${lacks})`, get, release() {} }
}

async function acquire(name: EngineName): Promise<EngineChoice> {
  const socket = connect(inject('enginePool'))
  await once(socket, 'connect')
  socket.write(`${name}\n`)
  const [line] = (await once(createInterface({ input: socket }), 'line')) as [string]
  const answer = JSON.parse(line) as PoolAnswer
  // The file may end without releasing it.
  socket.unref()
  if ('lacks' in answer) {
    socket.destroy()
    return without(name, answer.lacks)
  }
  const engine = { ...answer, docker: new Docker({ socketPath: answer.socketPath }), base: baseImage }
  return { name, lacks: null, title: name, get: () => engine, release: () => void socket.destroy() }
}

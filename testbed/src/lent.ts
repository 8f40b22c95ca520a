// The container engine of a test file: lent by setup.ts for as long as the file runs, or the reason why it cannot be had.
import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import Docker from 'dockerode'
import { inject } from 'vitest'
import { baseImage, engineNames, type EngineName, type EnginePlace } from './engine.ts'

declare module 'vitest' {
  interface ProvidedContext {
    engineLender: string
  }
}

export type Lent = EnginePlace | { lacks: string }

export interface TestEngine extends EnginePlace {
  docker: Docker
  /** An image with /etc/one, /etc/two and a few programs. */
  base: string
}

export interface EngineChoice {
  name: EngineName
  /** Why it is not tried; null: it is. */
  lacks: string | null
  /** For the name of a test. */
  title: string
  get(): TestEngine
  giveBack(): void
}

/**
 * Asks for a container engine, and for both only if MILLRACE_TEST_ENGINES says so (`docker,podman`; `none` for none).
 * One that is named there must run: a test that asked for it by name does not pass without it.
 */
export async function borrowEngines(): Promise<EngineChoice[]> {
  const wish = process.env['MILLRACE_TEST_ENGINES'] ?? ''
  const named = wish.toLowerCase().split(',')
  const choices: EngineChoice[] = []
  for (const name of engineNames) {
    if (wish !== '' && !named.includes(name.toLowerCase())) {
      choices.push(without(name, `MILLRACE_TEST_ENGINES is ${wish}`))
    } else if (wish === '' && choices.some(({ lacks }) => lacks === null)) {
      choices.push(without(name, 'one engine is enough unless MILLRACE_TEST_ENGINES names more'))
    } else {
      const choice = await borrow(name)
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
  return { name, lacks, title: `${name} (skipped: ${lacks})`, get, giveBack() {} }
}

async function borrow(name: EngineName): Promise<EngineChoice> {
  const socket = connect(inject('engineLender'))
  await once(socket, 'connect')
  socket.write(`${name}\n`)
  const [line] = (await once(createInterface({ input: socket }), 'line')) as [string]
  const lent = JSON.parse(line) as Lent
  // The file may end without giving it back.
  socket.unref()
  if ('lacks' in lent) {
    socket.destroy()
    return without(name, lent.lacks)
  }
  const engine = { ...lent, docker: new Docker({ socketPath: lent.socketPath }), base: baseImage }
  return { name, lacks: null, title: name, get: () => engine, giveBack: () => void socket.destroy() }
}

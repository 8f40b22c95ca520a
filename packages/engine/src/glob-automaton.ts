export type GlobPart =
  | { kind: 'set'; characters: string; negated: boolean }
  /** A run without `/`. */
  | { kind: 'segment' }
  | { kind: 'anything' }
  /** `/`, with any run ending in `/` behind it or nothing. */
  | { kind: 'any-folders' }
  | { kind: 'choice'; options: readonly (readonly GlobPart[])[] }

type Instruction =
  | { op: 'read'; accepts: (character: string) => boolean }
  | { op: 'fork'; to: readonly number[] }
  | { op: 'match' }

export function compileParts(parts: readonly GlobPart[]): Instruction[] {
  const program: Instruction[] = []
  emit(parts, program)
  program.push({ op: 'match' })
  return program
}

export function runParts(program: readonly Instruction[], text: string): boolean {
  let current = reachable(program, [0])
  for (const character of text) {
    const upcoming: number[] = []
    for (const state of current) {
      const instruction = program[state]
      if (instruction?.op === 'read' && instruction.accepts(character)) upcoming.push(state + 1)
    }
    if (upcoming.length === 0) return false
    current = reachable(program, upcoming)
  }
  return current.has(program.length - 1)
}

function reachable(program: readonly Instruction[], states: readonly number[]): Set<number> {
  const found = new Set<number>()
  const pending = [...states]
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    if (found.has(state)) continue
    found.add(state)
    const instruction = program[state]
    if (instruction?.op === 'fork') pending.push(...instruction.to)
  }
  return found
}

function emit(parts: readonly GlobPart[], program: Instruction[]): void {
  for (const part of parts) {
    if (part.kind === 'set') {
      program.push({
        op: 'read',
        accepts: (character) => part.characters.includes(character) !== part.negated,
      })
    } else if (part.kind === 'segment') emitLoop(program, (character) => character !== '/')
    else if (part.kind === 'anything') emitLoop(program, () => true)
    else if (part.kind === 'any-folders') emitFolders(program)
    else emitChoice(part.options, program)
  }
}

function emitLoop(program: Instruction[], accepts: (character: string) => boolean): void {
  const start = program.length
  program.push(
    { op: 'fork', to: [start + 1, start + 3] },
    { op: 'read', accepts },
    { op: 'fork', to: [start] },
  )
}

function emitFolders(program: Instruction[]): void {
  program.push({ op: 'read', accepts: isSlash })
  const skip = program.length
  program.push({ op: 'fork', to: [] })
  emitLoop(program, () => true)
  program.push({ op: 'read', accepts: isSlash })
  program[skip] = { op: 'fork', to: [skip + 1, program.length] }
}

function emitChoice(options: readonly (readonly GlobPart[])[], program: Instruction[]): void {
  const fork = program.length
  program.push({ op: 'fork', to: [] })
  const starts: number[] = []
  const exits: number[] = []
  for (const option of options) {
    starts.push(program.length)
    emit(option, program)
    exits.push(program.length)
    program.push({ op: 'fork', to: [] })
  }
  program[fork] = { op: 'fork', to: starts }
  for (const exit of exits) program[exit] = { op: 'fork', to: [program.length] }
}

function isSlash(character: string): boolean {
  return character === '/'
}

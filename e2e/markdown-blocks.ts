// Fenced blocks of a page, and the rest of the line that opens each: its mark.
interface Block {
  language: string
  mark: string
  text: string
  /** Of the fence, from 1. */
  line: number
}

export function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = []
  let open: Block | null = null
  for (const [index, line] of markdown.split('\n').entries()) {
    const [, info] = /^```(.*)$/.exec(line) ?? []
    if (info === undefined) {
      if (open !== null) open.text += `${line}\n`
    } else if (open === null) {
      const [language = '', ...mark] = info.trim().split(' ')
      open = { language, mark: mark.join(' '), text: '', line: index + 1 }
    } else {
      blocks.push(open)
      open = null
    }
  }
  if (open !== null) throw new Error(`The block of line ${open.line} has no end.`)
  return blocks
}

export interface RunBlock extends Block {
  /** The text that its output must contain, line by line; `…` stands for anything. */
  output: string | null
}

/** The shell blocks that are run, each with the output shown below it. */
export function runBlocks(blocks: readonly Block[], mark = 'run'): RunBlock[] {
  return blocks.flatMap((block, index) => {
    if (block.language !== 'sh' || block.mark !== mark) return []
    const next = blocks[index + 1]
    return [{ ...block, output: next?.language === 'text' && next.mark === 'output' ? next.text : null }]
  })
}

/** The lines of the expected output that the real one lacks, or has in another order. */
export function missingLines(expected: string, output: string): string[] {
  const lines = output.split('\n')
  let from = 0
  return expected.split('\n').filter((wanted) => {
    if (wanted.trim() === '') return false
    const pattern = new RegExp(`^${wanted.trimEnd().split('…').map(escape).join('.*')}$`)
    const found = lines.findIndex((line, index) => index >= from && pattern.test(line.trimEnd()))
    if (found !== -1) from = found + 1
    return found === -1
  })
}

const escape = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

// Cache of documents that were read from stored configurations. Most builds of a pipeline read the same text, and what a text
// means depends only on the variables that it names.
import type { ReadPipeline } from '@millrace/engine/steps/document.ts'
import { SizedCache } from '../lib/sized-cache.ts'

type Variables = ReadonlyMap<string, string>
type ReadDocument = Extract<ReadPipeline, { ok: true }>

/** One meaning of a text. */
interface Variant {
  /** The variables that the text names, and their values. */
  used: ReadonlyMap<string, string | undefined>
  read: ReadDocument
}

/** A text that names the commit means something else in each build. */
const mostVariants = 4

export class ReadDocuments {
  /** By text. */
  private readonly cache: SizedCache<string, Variant[]>

  /** `mostCharacters`: of the texts of all variants together. */
  constructor(mostCharacters: number) {
    this.cache = new SizedCache(mostCharacters)
  }

  find(text: string, variables: Variables): ReadDocument | undefined {
    const isMeant = ({ used }: Variant) => [...used].every(([name, value]) => variables.get(name) === value)
    return this.cache.get(text)?.find(isMeant)?.read
  }

  /** Callers share the document, so it is frozen. */
  add(text: string, variables: Variables, names: readonly string[], read: ReadDocument): void {
    freeze(read)
    const used = new Map(names.map((name) => [name, variables.get(name)]))
    const others = this.cache.get(text)?.slice(0, mostVariants - 1) ?? []
    const variants = [{ used, read }, ...others]
    this.cache.set(text, variants, text.length * variants.length)
  }
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const part of Object.values(value)) freeze(part)
}

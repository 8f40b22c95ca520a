/** `q`: part of a name or an address. */
interface TextSearch {
  q?: string
}

export const readSearchText = ({ q }: Record<string, unknown>): TextSearch =>
  typeof q === 'string' && q !== '' ? { q } : {}

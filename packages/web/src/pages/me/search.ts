/** `new` describes a token that is to be made for the commands of `millrace`. */
interface TokenSearch {
  new?: string
}

export const readTokenSearch = ({ new: description }: Record<string, unknown>): TokenSearch =>
  typeof description === 'string' ? { new: description } : {}

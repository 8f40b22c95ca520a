/** Removes NUL and lone surrogates, which PostgreSQL cannot store. */
export const clean = (text: string, longest: number): string =>
  text.slice(0, longest).replaceAll('\0', '').toWellFormed()

/** Caches hold compiled files, so agents of another system or processor do not read them. */
export const platform = `${process.platform}-${process.arch}`

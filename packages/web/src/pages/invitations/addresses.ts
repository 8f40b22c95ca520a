/** Addresses as people paste them: one a line, or with commas, semicolons or spaces between. */
export const readAddresses = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter(Boolean))]

export function withLock<T>(file: string, work: () => Promise<T>, doing?: string): Promise<T>

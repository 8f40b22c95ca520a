/** Answers errors carry. */
export interface ErrorBody {
  message: string
}

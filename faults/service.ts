/** The address of the service and the key for clients. */
export interface Service {
  apiUrl: string;
  apiKey: string;
}

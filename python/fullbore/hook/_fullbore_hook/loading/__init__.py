"""What is seen of torch's loading: in the training process and in its workers."""
